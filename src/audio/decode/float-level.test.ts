import assert from 'node:assert/strict';
import test from 'node:test';
import { FloatLevel } from './float-level.ts';

const tone = (peak: number) => Float32Array.from({ length: 16_000 }, (_, at) => peak * Math.sin(at / 10));

test('audio up to full scale stays as it is, and has all of its bits', () => {
  assert.deepEqual(
    [...new FloatLevel().toPcm(Float32Array.of(0, 0.5, -0.5, 1, -1))],
    [0, 16_384, -16_383, 32_767, -32_767],
  );
});

for (const peak of [4, 16, 32_768, 1e20]) {
  test(`audio with peaks of ${peak} keeps its shape`, () => {
    const found = new FloatLevel().toPcm(tone(peak));

    const expected = new FloatLevel().toPcm(tone(1));
    for (const [at, sample] of found.entries()) assert.ok(Math.abs(sample - expected[at]!) < 80, `${at}: ${sample}`);
  });
}

test('the level comes back after loud audio', () => {
  const level = new FloatLevel();
  level.toPcm(tone(16));

  const next = Math.max(...level.toPcm(tone(0.5)));
  for (let second = 0; second < 60; second += 1) level.toPcm(tone(0.5));

  assert.ok(next < 1200, `${next}`);
  assert.ok(Math.max(...level.toPcm(tone(0.5))) > 16_000);
});

test('what is no number is silence', () => {
  assert.deepEqual(
    [...new FloatLevel().toPcm(Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY, 0.5))],
    [0, 0, 16_384],
  );
});
