import type { PullProgress } from './pull.ts';

/** Output for progress; a terminal (`isTTY`) has a width and can redraw a line. */
export type Screen = { write(text: string): unknown; isTTY?: boolean | undefined; columns?: number | undefined };

const DRAW_EVERY_MS = 100;
const LINE_EVERY_PERCENT = 10;
const BAR_MAX = 30;
const CLEAR_LINE = '\r\x1b[K';

/** Shows the progress of a pull: a bar on a terminal, elsewhere a line for every 10 %. */
export function openProgress(name: string, screen: Screen, nowMs: () => number) {
  const startedAtMs = nowMs();
  let firstBytes: number | null = null;
  let [drawnAtMs, linesAt] = [Number.NEGATIVE_INFINITY, 0];

  function update({ doneBytes, totalBytes }: PullProgress): void {
    // Bytes of an earlier pull do not count for the speed.
    firstBytes ??= doneBytes;
    const seconds = (nowMs() - startedAtMs) / 1000;
    const bytesPerSecond = seconds > 0 ? (doneBytes - firstBytes) / seconds : 0;
    if (screen.isTTY) {
      if (nowMs() - drawnAtMs < DRAW_EVERY_MS && doneBytes < totalBytes) return;
      drawnAtMs = nowMs();
      screen.write(
        CLEAR_LINE + renderBar({ name, doneBytes, totalBytes, bytesPerSecond, columns: screen.columns ?? 80 }),
      );
      return;
    }
    const tenth = Math.floor((doneBytes / totalBytes) * (100 / LINE_EVERY_PERCENT));
    if (tenth > linesAt) screen.write(`${name}: ${tenth * LINE_EVERY_PERCENT} % of ${megabytes(totalBytes)}\n`);
    linesAt = Math.max(linesAt, tenth);
  }

  /** Ends the line of the bar. */
  function end(): void {
    if (screen.isTTY && drawnAtMs > Number.NEGATIVE_INFINITY) screen.write('\n');
  }

  return { update, end };
}

type Bar = { name: string; doneBytes: number; totalBytes: number; bytesPerSecond: number; columns: number };

/** One line, at most as wide as the terminal: name, bar, amount, speed and remaining time. */
function renderBar({ name, doneBytes, totalBytes, bytesPerSecond, columns }: Bar): string {
  const share = totalBytes > 0 ? doneBytes / totalBytes : 1;
  const amount = `${Math.floor(share * 100)} %  ${megabytes(doneBytes)} of ${megabytes(totalBytes)}`;
  const speed = bytesPerSecond > 0 ? `  ${megabytes(bytesPerSecond)}/s` : '';
  const leftSeconds = Math.ceil((totalBytes - doneBytes) / bytesPerSecond);
  const left = bytesPerSecond > 0 && leftSeconds > 0 ? `  ${duration(leftSeconds)} left` : '';
  const text = `${amount}${speed}${left}`;
  const width = Math.min(BAR_MAX, columns - name.length - text.length - 7);
  const full = Math.round(Math.max(0, width) * share);
  const bar = width >= 5 ? `  [${'#'.repeat(full)}${'.'.repeat(width - full)}]` : '';
  return `${name}${bar}  ${text}`.slice(0, columns - 1).trimEnd();
}

export function megabytes(bytes: number): string {
  const size = bytes / 1e6;
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} MB`;
}

function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
