/** The lowest and the highest sample of each part of the audio, -128 to 127, as the API gives them. */
export type Peaks = { min: readonly number[]; max: readonly number[] };

/** The lowest and highest point of each column, -1 to 1. */
export type Bars = { low: Float32Array; high: Float32Array };

// Quiet audio is drawn larger, noise of an almost silent recording is not.
const MIN_LOUDEST = 12;

/** The peaks in this many columns, where the loudest reaches the edge. Without peaks all columns are 0. */
export function barsOf({ min, max }: Peaks, columns: number): Bars {
  const bars = { low: new Float32Array(columns), high: new Float32Array(columns) };
  const points = Math.min(min.length, max.length);
  if (points === 0) return bars;
  let loudest = MIN_LOUDEST;
  for (let at = 0; at < points; at++) loudest = Math.max(loudest, -min[at]!, max[at]!);
  for (let column = 0; column < columns; column++) {
    const from = Math.floor((column * points) / columns);
    const end = Math.max(from + 1, Math.floor(((column + 1) * points) / columns));
    let low = 0;
    let high = 0;
    for (let at = from; at < end; at++) {
      low = Math.min(low, min[at]!);
      high = Math.max(high, max[at]!);
    }
    bars.low[column] = low / loudest;
    bars.high[column] = high / loudest;
  }
  return bars;
}

/**
 * The peaks of decoded audio, as the service makes them.
 * @param channels  samples from -1 to 1, all of the same length
 * @param points  of the result; shorter audio has as many as samples
 */
export function peaksOfSamples(channels: readonly Float32Array[], points: number): Peaks {
  const samples = channels[0]?.length ?? 0;
  const count = Math.min(points, samples);
  const peaks = { min: new Array<number>(count).fill(0), max: new Array<number>(count).fill(0) };
  for (let point = 0; point < count; point++) {
    const from = Math.floor((point * samples) / count);
    const end = Math.floor(((point + 1) * samples) / count);
    let low = 0;
    let high = 0;
    for (const channel of channels) {
      for (let at = from; at < end; at++) {
        const sample = channel[at]!;
        if (sample < low) low = sample;
        else if (sample > high) high = sample;
      }
    }
    peaks.min[point] = Math.max(-128, Math.round(low * 128));
    peaks.max[point] = Math.min(127, Math.round(high * 127));
  }
  return peaks;
}

/** The part of a canvas that the waveform needs. */
export type Surface = {
  fillStyle: unknown;
  clearRect(x: number, y: number, width: number, height: number): void;
  fillRect(x: number, y: number, width: number, height: number): void;
};

/** Sizes are in the canvas's pixels. */
export type Drawing = {
  width: number;
  height: number;
  /** From the start of one column to the start of the next, and the width that is filled. */
  step: number;
  fill: number;
  /** How much of the audio is played, 0 to 1. */
  played: number;
  colors: { played: string; ahead: string };
};

/** How many columns fit. */
export function columnsOf({ width, step }: Pick<Drawing, 'width' | 'step'>): number {
  return Math.max(1, Math.floor(width / step));
}

/**
 * Draws the waveform around the middle of the canvas. Each column is at least a pixel high, so that silence is a line.
 */
export function drawBars(surface: Surface, bars: Bars, { width, height, step, fill, played, colors }: Drawing): void {
  surface.clearRect(0, 0, width, height);
  const middle = height / 2;
  const playedColumns = played * bars.low.length;
  surface.fillStyle = colors.played;
  let isPlayed = true;
  for (let column = 0; column < bars.low.length; column++) {
    if (isPlayed && column >= playedColumns) {
      isPlayed = false;
      surface.fillStyle = colors.ahead;
    }
    const top = Math.round(middle - bars.high[column]! * middle);
    const bottom = Math.round(middle - bars.low[column]! * middle);
    surface.fillRect(column * step, Math.min(top, height - 1), fill, Math.max(1, bottom - top));
  }
}
