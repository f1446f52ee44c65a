import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { PeakCollector, readPeaks } from './peaks.ts';

const RATE = 16_000;

test('silence has peaks of 0, and no samples have none', () => {
  const peaks = new PeakCollector();
  const none = readPeaks(peaks.bytes(), 10);
  peaks.add(new Int16Array(RATE));

  assert.deepEqual(none, { min: [], max: [] });
  assert.deepEqual(readPeaks(peaks.bytes(), 2), { min: [0, 0], max: [0, 0] });
});

test('a click is found in its interval, at its height', () => {
  const samples = new Int16Array(10 * RATE);
  samples[4.5 * RATE] = 32_767;
  samples[7.5 * RATE] = -32_768;
  const peaks = new PeakCollector();
  peaks.add(samples);

  assert.deepEqual(readPeaks(peaks.bytes(), 10), {
    min: [0, 0, 0, 0, 0, 0, 0, -128, 0, 0],
    max: [0, 0, 0, 0, 127, 0, 0, 0, 0, 0],
  });
});

test('audio of any length, in chunks of any size, has the lowest and highest sample of each interval', () => {
  const SEED = 8;
  const random = randomFrom(SEED);
  for (let round = 0; round < 40; round++) {
    const samples = Int16Array.from({ length: random.integer(random.pick([300, 5_000, 900_000])) }, () =>
      Math.floor((random.next() * 2 - 1) * 32_767),
    );
    const peaks = new PeakCollector();
    for (let at = 0; at < samples.length; ) {
      const end = at + 1 + random.integer(9_000);
      peaks.add(samples.subarray(at, end));
      at = end;
    }
    const stored = peaks.bytes();
    const points = 1 + random.integer(50);
    const { min, max } = readPeaks(stored, points);

    assert.ok(stored.length <= 4_000, `${stored.length} bytes`);
    assert.ok(min.length <= points && min.length === max.length);
    const lowest = samples.reduce((low, sample) => Math.min(low, sample), 0);
    const highest = samples.reduce((high, sample) => Math.max(high, sample), 0);
    assert.equal(Math.min(0, ...min), lowest >> 8, `seed ${SEED}, round ${round}`);
    assert.equal(Math.max(0, ...max), highest >> 8);
  }
});

test('samples that are skipped count as silent ones, also where others share their interval', () => {
  const random = randomFrom(9);
  const [added, skipped] = [new PeakCollector(), new PeakCollector()];
  for (let part = 0; part < 30; part++) {
    const loud = Int16Array.from({ length: random.integer(9_000) }, () => random.integer(65_536) - 32_768);
    const silence = random.integer(60_000);
    added.add(loud);
    skipped.add(loud);
    added.add(new Int16Array(silence));
    skipped.skip(silence);
  }

  assert.deepEqual(skipped.bytes(), added.bytes());
});
