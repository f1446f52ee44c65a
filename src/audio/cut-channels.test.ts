import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../test/fixtures/random.ts';
import { type Pcm, SAMPLE_RATE } from '../engines/engine.ts';
import { cutChannels } from './cut-channels.ts';
import { cutPieces, endSample } from './split.ts';

const CHUNK = 8_192;
const PIECE_MAX = 30 * SAMPLE_RATE;

/** Noise with pauses at places of its own. */
function speech(seconds: number, seed: number): Pcm {
  const random = randomFrom(seed);
  const pcm = Int16Array.from({ length: Math.round(seconds * SAMPLE_RATE) }, () => random.integer(6_000) - 3_000);
  for (let at = 0; at < pcm.length; at += (2 + random.integer(5)) * SAMPLE_RATE) pcm.fill(0, at, at + SAMPLE_RATE / 2);
  return pcm;
}

async function* inChunks(channels: Pcm[], onRead: (end: number) => void = () => undefined): AsyncGenerator<Pcm[]> {
  for (let at = 0; at < channels[0]!.length; at += CHUNK) {
    onRead(at + CHUNK);
    yield channels.map((pcm) => pcm.slice(at, at + CHUNK));
  }
}

async function* inChunksOf(pcm: Pcm): AsyncGenerator<Pcm> {
  for await (const [chunk] of inChunks([pcm])) yield chunk!;
}

test('each channel is cut as if it were alone, and the pieces are in the order of their starts', async () => {
  const channels = [1, 2, 3].map((seed) => speech(150, seed));
  const alone = await Promise.all(channels.map((pcm) => Array.fromAsync(cutPieces(inChunksOf(pcm)))));

  const pieces = await Array.fromAsync(cutChannels(inChunks(channels), 3, (pcm) => cutPieces(pcm)));

  for (const [channel, expected] of alone.entries()) {
    const own = pieces.filter((piece) => piece.channel === channel).map(({ channel: _, ...piece }) => piece);
    assert.ok(own.length > 4);
    assert.deepEqual(own, expected);
  }
  const order = pieces.map(({ startSeconds, channel }) => [startSeconds, channel] as const);
  assert.deepEqual(
    order,
    order.toSorted(([a, i], [b, j]) => a - b || i - j),
  );
});

test('the audio is read no further than the longest piece past the start of the next piece', async () => {
  const channels = [4, 5, 6, 7, 8, 9, 10, 11].map((seed) => speech(100, seed));
  let read = 0;
  const reached = channels.map(() => 0);

  for await (const piece of cutChannels(
    inChunks(channels, (end) => (read = end)),
    8,
    (pcm) => cutPieces(pcm),
  )) {
    const ahead = read - Math.min(...reached);
    assert.ok(ahead <= PIECE_MAX + CHUNK, `${ahead} samples ahead`);
    reached[piece.channel] = endSample(piece);
  }

  assert.deepEqual(
    reached,
    channels.map(({ length }) => length),
  );
});

test('a single channel of up to 30 s is one piece that is all of the audio; of two channels none is', async () => {
  const pcm = speech(10, 1);

  const one = await Array.fromAsync(cutChannels(inChunks([pcm]), 1, (some) => cutPieces(some)));
  const two = await Array.fromAsync(cutChannels(inChunks([pcm, pcm]), 2, (some) => cutPieces(some)));

  assert.deepEqual(
    one.map(({ isWhole }) => isWhole),
    [true],
  );
  assert.deepEqual(
    two.map(({ channel, isWhole }) => [channel, isWhole]),
    [
      [0, false],
      [1, false],
    ],
  );
});

test('a consumer that stops early ends the source', async () => {
  let isEnded = false;
  async function* source() {
    try {
      yield* inChunks([speech(100, 1), speech(100, 2)]);
    } finally {
      isEnded = true;
    }
  }

  for await (const _ of cutChannels(source(), 2, (pcm) => cutPieces(pcm))) break;

  assert.equal(isEnded, true);
});

test('a failure of the source is thrown', async () => {
  const failure = new Error('damaged');
  async function* source() {
    yield [speech(40, 1), speech(40, 2)];
    throw failure;
  }

  await assert.rejects(Array.fromAsync(cutChannels(source(), 2, (pcm) => cutPieces(pcm))), failure);
});
