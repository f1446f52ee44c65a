import { constantOf, type Tensors } from './tensors.ts';
import type { Rows, Workspace } from './workspace.ts';

const FRAME = 256;
const HOP = 64;
/** Samples that a window is continued by at both ends, mirrored. */
const MIRRORED = 96;
export const FREQUENCIES = FRAME / 2 + 1;
/** With zeros up to a multiple of the outputs that are computed at once. */
const FREQUENCIES_COMPUTED = 136;
const HALF = FRAME / 2;
/** Frames over which the level is smoothed. */
const SMOOTHED = 7;

/** The number of frames of a window. */
export function framesIn(window: number): number {
  return (window + 2 * MIRRORED - FRAME) / HOP + 1;
}

/**
 * The first step: writes rows of the magnitudes of the frequencies, and of their logarithms without the mean level of
 * the window.
 */
export function openSpectrum(
  workspace: Workspace,
  tensors: Tensors,
  { prefix, window, output }: { prefix: string; window: number; output: Rows },
): (samples: Float32Array, from: number) => void {
  const { floats } = workspace;
  const frames = framesIn(window);
  const waves = constantOf(tensors, `${prefix}.feature_extractor.forward_basis_buffer`);
  const smoothing = constantOf(tensors, `${prefix}.adaptive_normalization.filter_`);
  // A wave is as high or as low before the middle of the frame as after it, and the first sample has no weight.
  const [real, imaginary] = [0, 1].map((part) => {
    const weightOf = (frequency: number, sample: number) =>
      frequency < FREQUENCIES ? waves[(part * FREQUENCIES + frequency) * FRAME + sample + 1]! : 0;
    const size = { inputs: HALF, outputs: FREQUENCIES_COMPUTED, rows: frames, isRectified: false };
    return workspace.dense(size, weightOf, () => 0);
  });
  const [sums, differences] = [0, 1].map(() => workspace.rows(frames, HALF));
  const [realParts, imaginaryParts] = [0, 1].map(() => workspace.rows(frames, FREQUENCIES_COMPUTED));
  const mirrored = new Float32Array(window + 2 * MIRRORED);
  const levels = new Float64Array(frames);

  function mirror(samples: Float32Array, from: number): void {
    const [first, last] = [MIRRORED, MIRRORED + window - 1];
    mirrored.set(samples.subarray(from, from + window), first);
    for (let distance = 1; distance <= MIRRORED; distance += 1) {
      mirrored[first - distance] = mirrored[first + distance]!;
      mirrored[last + distance] = mirrored[last - distance]!;
    }
  }

  function fold(): void {
    for (let frame = 0; frame < frames; frame += 1) {
      const [start, end] = [frame * HOP, frame * HOP + FRAME];
      const [sum, difference] = [sums!.at + frame * HALF - 1, differences!.at + frame * HALF - 1];
      for (let at = 1; at < HALF; at += 1) {
        const [before, after] = [mirrored[start + at]!, mirrored[end - at]!];
        floats[sum + at] = before + after;
        floats[difference + at] = before - after;
      }
      floats[sum + HALF] = mirrored[start + HALF]!;
    }
  }

  function logarithmsOf(frame: number): Float32Array {
    const at = output.at + frame * output.stride + FREQUENCIES;
    return floats.subarray(at, at + FREQUENCIES);
  }

  function subtractLevel(): void {
    for (let frame = 0; frame < frames; frame += 1) levels[frame] = meanOf(logarithmsOf(frame));
    const level = smoothedMean(levels, smoothing);
    for (let frame = 0; frame < frames; frame += 1) {
      const logarithms = logarithmsOf(frame);
      for (let at = 0; at < logarithms.length; at += 1) logarithms[at]! -= level;
    }
  }

  return (samples, from) => {
    mirror(samples, from);
    fold();
    workspace.runDense(real!, sums!, realParts!);
    workspace.runDense(imaginary!, differences!, imaginaryParts!);
    workspace.runSpectrum(frames, realParts!, imaginaryParts!, output);
    subtractLevel();
  };
}

/** The mean of the values after smoothing, which continues them mirrored. */
function smoothedMean(values: Float64Array, smoothing: Float32Array): number {
  const last = values.length - 1;
  let sum = 0;
  for (let at = 0; at <= last; at += 1) {
    for (let tap = 0; tap < SMOOTHED; tap += 1) {
      const from = Math.abs(at + tap - (SMOOTHED >> 1));
      sum += smoothing[tap]! * values[from > last ? 2 * last - from : from]!;
    }
  }
  return sum / values.length;
}

function meanOf(values: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < values.length; at += 1) sum += values[at]!;
  return sum / values.length;
}
