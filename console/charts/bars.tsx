// A row of small bars, for a figure over time. Screen readers get the label only: say in it what the bars show.
//
//   <Bars label="Jobs per hour, 24 h" values={[0, 3, 1]} bad={[0, 1, 0]} titles={['09:00', …]} />

const WIDTH = 4;
const GAP = 1;
const HEIGHT = 28;

/** @param bad  the part of each value that is bad, drawn at the foot of its bar */
export function Bars({
  label,
  values,
  bad = [],
  titles = [],
  format = String,
}: {
  label: string;
  values: readonly number[];
  bad?: readonly number[];
  titles?: readonly string[];
  format?: (value: number) => string;
}) {
  const highest = Math.max(1, ...values);
  const heightOf = (value: number) => (value === 0 ? 0 : Math.max(1.5, (value / highest) * HEIGHT));
  const width = Math.max(1, values.length) * (WIDTH + GAP);
  return (
    <svg className="bars" role="img" aria-label={label} viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none">
      {values.map((value, index) => {
        const x = index * (WIDTH + GAP);
        const [height, badHeight] = [heightOf(value), heightOf(bad[index] ?? 0)];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
          <g key={index}>
            <title>{`${titles[index] ?? ''} ${format(value)}`.trim()}</title>
            <rect className="ground" x={x} y={0} width={WIDTH} height={HEIGHT} />
            <rect className="bar" x={x} y={HEIGHT - height} width={WIDTH} height={height} />
            <rect className="bar bad" x={x} y={HEIGHT - badHeight} width={WIDTH} height={badHeight} />
          </g>
        );
      })}
    </svg>
  );
}
