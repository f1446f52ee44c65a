import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { LIVE_SAMPLE_RATES, type LiveSampleRate } from './encoding.ts';
import { FRAME_SAMPLES, Resampler } from './resampler.ts';

const AMPLITUDE = 10_000;

function tone(hertz: number, { sampleRate, seconds }: { sampleRate: number; seconds: number }): Int16Array {
  const turn = (2 * Math.PI * hertz) / sampleRate;
  return Int16Array.from({ length: sampleRate * seconds }, (_, at) => Math.round(AMPLITUDE * Math.sin(turn * at)));
}

function resample(samples: Int16Array, sampleRate: LiveSampleRate): Int16Array {
  const resampler = new Resampler(sampleRate);
  const size = sampleRate / 100;
  const output = new Int16Array((samples.length / size) * FRAME_SAMPLES);
  for (let at = 0; at * size < samples.length; at++) {
    output.set(resampler.push(samples.subarray(at * size, (at + 1) * size)), at * FRAME_SAMPLES);
  }
  return output;
}

/** Amplitude of a frequency in the samples, without the first 50 ms. */
function amplitudeOf(hertz: number, samples: Int16Array): number {
  const steady = samples.subarray(800);
  let real = 0;
  let imaginary = 0;
  for (const [at, sample] of steady.entries()) {
    real += sample * Math.cos((2 * Math.PI * hertz * at) / 16_000);
    imaginary += sample * Math.sin((2 * Math.PI * hertz * at) / 16_000);
  }
  return (2 * Math.hypot(real, imaginary)) / steady.length;
}

for (const sampleRate of LIVE_SAMPLE_RATES) {
  test(`tones of 200 to 3,000 Hz keep their level and gain nothing else at ${sampleRate} Hz`, () => {
    for (const hertz of [200, 1_000, 3_000]) {
      const output = resample(tone(hertz, { sampleRate, seconds: 1 }), sampleRate);

      assert.ok(Math.abs(amplitudeOf(hertz, output) - AMPLITUDE) < 0.02 * AMPLITUDE, `${hertz} Hz`);
      const power = output.subarray(800).reduce((sum, sample) => sum + sample * sample, 0) / (output.length - 800);
      assert.ok(Math.abs(power / (AMPLITUDE ** 2 / 2) - 1) < 0.04, `${hertz} Hz: other frequencies`);
    }
  });
}

test('a tone that 16,000 samples per second cannot hold is removed', () => {
  for (const sampleRate of [24_000, 44_100, 48_000] as const) {
    const output = resample(tone(11_000, { sampleRate, seconds: 1 }), sampleRate);

    assert.ok(Math.max(...output.subarray(800)) < 0.02 * AMPLITUDE, String(sampleRate));
  }
});

test('a resampler that starts one frame earlier gives the same samples as one that ran from the start', () => {
  const random = randomFrom(11);
  for (const sampleRate of LIVE_SAMPLE_RATES) {
    const size = sampleRate / 100;
    const samples = Int16Array.from({ length: 40 * size }, () => random.integer(20_000) - 10_000);
    const whole = resample(samples, sampleRate);

    const late = resample(samples.subarray(24 * size), sampleRate);

    assert.deepEqual(late.subarray(FRAME_SAMPLES), whole.subarray(25 * FRAME_SAMPLES), String(sampleRate));
  }
});
