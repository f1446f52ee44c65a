import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import uPlot from 'uplot';
import { preferences } from '../session/preferences.ts';
import { useStore } from '../session/store.ts';
import { type CalendarUnit, calendarDate, calendarHead, exactTime } from '../text/times.ts';
import { type Series, stacked } from './series.ts';
import { calendarLabels, labelledTimes, tickLabels } from './tick-labels.ts';

// Values over time. Import this file lazily: uPlot is larger than the rest of a view.
//
//   <TimeChart label="Attempts" series={outcomeSeries(buckets)} look="bars" tones={['good', 'bad', 'neutral']} />

/** A colour of the style sheet: that of the class `tone-<tone>`. */
export type ChartTone = 'good' | 'bad' | 'wait' | 'neutral' | '1' | '2' | '3' | '4' | '5';

const HEIGHT_PX = 170;
const AXIS_FONT = '11px system-ui, sans-serif';
const AXIS_PX = 48;
// Of the lines at the labels, and of the space between them.
const TICK_MARK_PX = 18;
const TICK_PX = 56;
const DARK = matchMedia('(prefers-color-scheme: dark)');

/** A chart, what its colours mean, and the same values as a table for those who do not see it. */
export default function TimeChart(props: {
  label: string;
  series: Series;
  /** Bars stand on each other; lines have gaps where there is no value. */
  look: 'bars' | 'lines';
  /** One per series. */
  tones: readonly ChartTone[];
  /** Writes a value. */
  format?: (value: number) => string;
  /** What a bar covers, if that is a day or a month of UTC: such times are shown without the time of day. */
  unit?: CalendarUnit | undefined;
}) {
  const { label, series, tones, unit, format = String } = props;
  return (
    <figure className="chart">
      <figcaption>
        {label}
        <ul className="legend">
          {series.names.map((name, index) => (
            <li key={name}>
              <svg className={`swatch tone-${tones[index]}`} width="10" height="10" aria-hidden="true">
                <rect width="10" height="10" rx="2" />
              </svg>
              {name}
            </li>
          ))}
        </ul>
      </figcaption>
      <Canvas {...props} format={format} />
      <ValueTable label={label} series={series} unit={unit} format={format} />
    </figure>
  );
}

function Canvas({
  series,
  look,
  tones,
  format,
  unit,
}: Parameters<typeof TimeChart>[0] & { format: (value: number) => string }) {
  const place = useRef<HTMLDivElement>(null);
  const { theme, utc } = useStore(preferences);
  const isDark = useSyncExternalStore(followScheme, () => DARK.matches);
  const toneNames = tones.join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colours
  useEffect(() => {
    const element = place.current!;
    const chart = new uPlot(
      optionsOf({
        names: series.names,
        look,
        format,
        utc,
        unit,
        seconds: (series.columns[0] ?? []) as number[],
        colours: coloursOf(element),
        width: element.clientWidth,
      }),
      dataOf(series, look) as uPlot.AlignedData,
      element,
    );
    const resized = new ResizeObserver(([entry]) =>
      chart.setSize({ width: entry!.contentRect.width, height: HEIGHT_PX }),
    );
    resized.observe(element);
    return () => {
      resized.disconnect();
      chart.destroy();
    };
  }, [series, look, toneNames, format, unit, utc, theme, isDark]);
  return <div className="chart-canvas" ref={place} aria-hidden="true" />;
}

function followScheme(onChange: () => void): () => void {
  DARK.addEventListener('change', onChange);
  return () => DARK.removeEventListener('change', onChange);
}

/** Bars that stand on others are drawn before those, which cover their lower part. */
function dataOf(series: Series, look: 'bars' | 'lines'): Series['columns'] {
  if (look === 'lines') return series.columns;
  const [seconds = [], ...sums] = stacked(series).columns;
  return [seconds, ...sums.reverse()];
}

function optionsOf({
  names,
  look,
  colours,
  format,
  utc,
  width,
  unit,
  seconds,
}: {
  names: string[];
  look: 'bars' | 'lines';
  colours: { series: string[]; text: string; grid: string };
  format: (value: number) => string;
  utc: boolean;
  width: number;
  unit: CalendarUnit | undefined;
  seconds: readonly number[];
}): uPlot.Options {
  const drawn = names.map((label, index) => ({ label, stroke: colours.series[index]! }));
  const bar = look === 'bars' && seconds.length > 1 ? seconds[1]! - seconds[0]! : 0;
  const axis = { stroke: colours.text, font: AXIS_FONT, grid: { stroke: colours.grid, width: 1 } };
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: look === 'lines' } },
    ...(utc && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') }),
    scales: {
      // A bar begins at its time, or has the name of its day below its middle, and needs the width of its bucket.
      x: { range: (_chart, low, high) => [low - (unit ? bar / 2 : 0), high + (unit ? bar / 2 : bar)] },
      y: { range: (_chart, _low, high) => [0, Math.max(1, high * 1.05)] },
    },
    axes: [
      {
        ...axis,
        space: TICK_PX,
        values: (_chart, ticks) => (unit ? calendarLabels(ticks, unit) : tickLabels(ticks, utc)),
        ...(unit && { splits: (chart: uPlot) => labelledTimes(seconds, labelsFitting(chart)) }),
      },
      {
        ...axis,
        size: (chart, labels) => axisPx(chart.ctx, labels ?? []),
        values: (_chart, ticks) => ticks.map(format),
        // Counts have no halves.
        ...(look === 'bars' && { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6, 1e7] }),
      },
    ],
    series: [
      {},
      ...(look === 'lines'
        ? drawn.map((one) => ({ ...one, width: 1.5, points: { show: true, size: 4, fill: one.stroke } }))
        : drawn.reverse().map((one) => ({
            ...one,
            width: 0,
            fill: one.stroke,
            points: { show: false },
            paths: uPlot.paths.bars!({ size: [0.85, 28], align: unit ? 0 : 1 }),
          }))),
    ],
  };
}

/** How many labels have space below the chart. */
function labelsFitting({ bbox }: uPlot): number {
  return Math.max(1, Math.floor(bbox.width / devicePixelRatio / TICK_PX));
}

/** The width that the labels of the values need. */
function axisPx(context: CanvasRenderingContext2D, labels: readonly string[]): number {
  context.font = AXIS_FONT;
  return Math.max(AXIS_PX, ...labels.map((label) => Math.ceil(context.measureText(label).width) + TICK_MARK_PX));
}

/** Computed colours, which a canvas understands: those of the legend, of the text, and of the border as the grid. */
function coloursOf(element: Element) {
  const swatches = [...(element.closest('.chart')?.querySelectorAll('.swatch') ?? [])];
  const { color, borderTopColor } = getComputedStyle(element);
  return { series: swatches.map((swatch) => getComputedStyle(swatch).color), text: color, grid: borderTopColor };
}

/** Without the times in which there is nothing. */
function ValueTable({
  label,
  series,
  format,
  unit,
}: {
  label: string;
  series: Series;
  format: (value: number) => string;
  unit: CalendarUnit | undefined;
}) {
  const { utc } = useStore(preferences);
  const rows = useMemo(() => {
    const [seconds = [], ...columns] = series.columns;
    return seconds
      .map((second, index) => ({ second: second!, values: columns.map((column) => column[index] ?? null) }))
      .filter(({ values }) => values.some((value) => value !== null && value !== 0));
  }, [series]);
  return (
    <details className="chart-values">
      <summary>{label} as a table</summary>
      {rows.length === 0 ? (
        <p>No data in this period.</p>
      ) : (
        <table>
          <caption className="hidden">{label}</caption>
          <thead>
            <tr>
              <th scope="col">{unit ? calendarHead(unit) : 'Time'}</th>
              {series.names.map((name) => (
                <th key={name} scope="col" className="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ second, values }) => (
              <tr key={second}>
                <td>
                  {unit ? calendarDate(second * 1000, unit) : exactTime(new Date(second * 1000).toISOString(), utc)}
                </td>
                {values.map((value, index) => (
                  <td key={series.names[index]} className="number">
                    {value === null ? '–' : format(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}
