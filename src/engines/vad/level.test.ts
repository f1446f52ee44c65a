import assert from 'node:assert/strict';
import test from 'node:test';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { level } from './level.ts';

/** Seconds of a tone of each amplitude, one after the other. */
function tones(...amplitudes: number[]): Pcm {
  const length = 4 * SAMPLE_RATE;
  return Int16Array.from(
    { length: length * amplitudes.length },
    (_, at) => amplitudes[Math.floor(at / length)]! * Math.sin(at / 7),
  );
}

/** The peak in the middle of each part of 4 s. */
function peaks(samples: Float32Array): number[] {
  const parts = Array.from({ length: samples.length / SAMPLE_RATE / 4 }, (_, part) =>
    samples.subarray((4 * part + 1.5) * SAMPLE_RATE, (4 * part + 2.5) * SAMPLE_RATE),
  );
  return parts.map(
    (part) => Math.round(part.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0) * 100) / 100,
  );
}

const CASES: { what: string; amplitudes: number[]; expected: number[] }[] = [
  { what: 'sound at a usual level stays as it is', amplitudes: [10_000], expected: [0.31] },
  { what: 'sound 60 dB below full scale is amplified', amplitudes: [33], expected: [0.18] },
  { what: 'a quiet part beside a loud one is amplified', amplitudes: [10_000, 300], expected: [0.31, 0.18] },
  { what: 'a part 60 dB below the loud one stays quiet', amplitudes: [33, 32_000], expected: [0.03, 0.98] },
  { what: 'silence stays silence', amplitudes: [0], expected: [0] },
];

for (const { what, amplitudes, expected } of CASES) {
  test(what, () => assert.deepEqual(peaks(level(tones(...amplitudes))), expected));
}

test('no audio at all gives no samples', () => assert.equal(level(new Int16Array(0)).length, 0));
