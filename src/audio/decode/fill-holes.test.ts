import assert from 'node:assert/strict';
import test from 'node:test';
import { SAMPLE_RATE } from '../../engines/engine.ts';
import { joinPcm } from '../../engines/join-pcm.ts';
import { fillHoles } from './fill-holes.ts';

const BLOCK_SECONDS = 0.02;
const limit = { hasTimes: true, maxSeconds: 1000, tooLong: () => new Error('too long') };

/** Where each block begins, in seconds; block n holds the number n + 1 only. */
async function positions(starts: number[], { channels = 1, perBatch = 3 } = {}): Promise<number[]> {
  const blocks = starts.map((startSeconds, index) => ({
    channels,
    startSeconds,
    samples: new Int16Array(BLOCK_SECONDS * SAMPLE_RATE * channels).fill(index + 1),
  }));
  async function* batches() {
    for (let at = 0; at < blocks.length; at += perBatch) yield blocks.slice(at, at + perBatch);
  }
  const filled = await Array.fromAsync(fillHoles(batches(), limit));
  const samples = joinPcm(filled.map((frames) => frames.samples));
  return starts.map((_, index) => Number((samples.indexOf(index + 1) / channels / SAMPLE_RATE).toFixed(3)));
}

test('blocks that follow each other adjoin, and timestamps that are rounded do not matter', async () => {
  assert.deepEqual(await positions([0.003, 0.02, 0.041, 0.06, 0.119]), [0, 0.02, 0.04, 0.06, 0.08]);
});

test('a block stands at its timestamp after a hole, also at the start', async () => {
  for (const channels of [1, 2]) {
    assert.deepEqual(await positions([5, 5.02, 30, 30.02], { channels }), [5, 5.02, 30, 30.02]);
  }
});

test('a file whose timestamps start anew goes on where it was, and its later holes count', async () => {
  assert.deepEqual(await positions([4, 4.02, 0, 0.02, 1.04, 1.06]), [4, 4.02, 4.04, 4.06, 5.08, 5.1]);
});

test('no sample is dropped where timestamps overlap', async () => {
  const starts = Array.from({ length: 100 }, (_, index) => index * BLOCK_SECONDS * 0.5);

  const found = await positions(starts);

  assert.deepEqual(
    found,
    starts.map((_, index) => Number((index * BLOCK_SECONDS).toFixed(3))),
  );
});

test('a short step that repeats is no hole; a hole among such steps is filled', async () => {
  const starts = Array.from({ length: 50 }, (_, index) => index * 0.061 + (index < 30 ? 0 : 2));

  const found = await positions(starts);

  assert.deepEqual(
    found,
    starts.map((_, index) =>
      Number((index * BLOCK_SECONDS + (index < 30 ? 0 : found[30]! - 30 * BLOCK_SECONDS)).toFixed(3)),
    ),
  );
  assert.ok(Math.abs(found[30]! - found[29]! - 2) < 0.1, `${found[30]! - found[29]!} s`);
});

test('packets that are lost here and there leave their place', async () => {
  const lost = new Set([10, 25, 26, 27, 40, 61, 62, 63, 64, 65, 66, 90]);
  const starts = Array.from({ length: 100 }, (_, index) => index * BLOCK_SECONDS).filter(
    (_, index) => !lost.has(index),
  );

  const found = await positions(starts);

  for (const [at, start] of starts.entries())
    assert.ok(Math.abs(found[at]! - start) <= 0.101, `${found[at]} s, not ${start} s`);
});
