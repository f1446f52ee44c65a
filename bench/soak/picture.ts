import type { Series, Slope } from './slope.ts';

export type Row = Series & { slope: Slope };

const COLUMNS = 4;
const [WIDTH, HEIGHT] = [260, 110];
const [PLOT_TOP, PLOT_HEIGHT, MARGIN] = [38, 58, 12];
const COLOURS: Record<Slope['verdict'], string> = {
  flat: '#2b6cb0',
  falls: '#2b6cb0',
  'too few values': '#718096',
  grows: '#c53030',
};

/** A picture of all series, each from 0 to its largest value; those that grow are red. */
export function pictureOf(rows: Row[], hours: number[]): string {
  const height = Math.ceil(rows.length / COLUMNS) * HEIGHT;
  const plots = rows.map((row, at) => {
    const [x, y] = [(at % COLUMNS) * WIDTH, Math.floor(at / COLUMNS) * HEIGHT];
    return `<g transform="translate(${x} ${y})">${plotOf(row, hours)}</g>`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${COLUMNS * WIDTH} ${height}" font-family="sans-serif" ` +
    `font-size="10"><rect width="100%" height="100%" fill="#fff"/>\n${plots.join('\n')}\n</svg>\n`
  );
}

function plotOf({ name, unit, values, slope }: Row, hours: number[]): string {
  const most = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE);
  const lastHour = hours.at(-1) || 1;
  const points = values.flatMap((value, at) => {
    if (value === null) return [];
    const x = MARGIN + (hours[at]! / lastHour) * (WIDTH - 2 * MARGIN);
    return [`${x.toFixed(1)},${(PLOT_TOP + PLOT_HEIGHT * (1 - value / most)).toFixed(1)}`];
  });
  const base = PLOT_TOP + PLOT_HEIGHT;
  return (
    `<text x="${MARGIN}" y="16" font-weight="bold">${escapeXml(name)}</text>` +
    `<text x="${MARGIN}" y="30" fill="#4a5568">${escapeXml(`${short(slope.level)} ${unit}, ${slope.verdict}; most ${short(most)}`)}</text>` +
    `<path d="M${MARGIN} ${base}H${WIDTH - MARGIN}" stroke="#a0aec0"/>` +
    `<polyline points="${points.join(' ')}" fill="none" stroke="${COLOURS[slope.verdict]}" stroke-width="1.2"/>`
  );
}

/** The same as a table in Markdown, with the slope of each series. */
export function tableOf(rows: Row[]): string {
  const lines = rows.map(
    ({ name, unit, slope }) =>
      `| ${name} | ${unit} | ${short(slope.level)} | ${signed(slope.perHour)} | ${signed(slope.growth)} | ${slope.verdict} |`,
  );
  return ['| series | unit | median | per hour | over the run | |', '|---|---|---:|---:|---:|---|', ...lines, ''].join(
    '\n',
  );
}

function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${short(value)}`;
}

/** Three digits, more for large numbers. */
function short(value: number): string {
  return String(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
