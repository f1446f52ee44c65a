import assert from 'node:assert/strict';
import test from 'node:test';
import type { Pcm } from '../engines/engine.ts';
import { SAMPLE_RATE } from '../engines/engine.ts';
import type { FindSpeech } from './split.ts';
import { cutPieces } from './split.ts';

/** Noise from a seed: sample values of up to `amplitude` either way. */
function noise(seconds: number, amplitude: number, random: () => number): Pcm {
  return Int16Array.from({ length: Math.round(seconds * SAMPLE_RATE) }, () => (random() * 2 - 1) * amplitude);
}

/** A small generator of even quality (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function isSame(one: Pcm, other: Pcm): boolean {
  return one.length === other.length && one.every((sample, at) => sample === other[at]);
}

async function* inChunks(pcm: Pcm, nextLength: () => number): AsyncGenerator<Pcm> {
  for (let at = 0; at < pcm.length; ) {
    const chunk = pcm.slice(at, at + nextLength());
    at += chunk.length;
    yield chunk;
  }
}

test('pieces laid end to end are the audio, whatever its length and however it comes in', async () => {
  const seed = 20_261_121;
  const random = seeded(seed);
  for (let round = 0; round < 25; round += 1) {
    const audio = noise(random() * 130, 3000, random);
    const chunkMax = 1 + Math.floor(random() * 200_000);

    const pieces = await Array.fromAsync(cutPieces(inChunks(audio, () => 1 + Math.floor(random() * chunkMax))));

    let at = 0;
    for (const [index, piece] of pieces.entries()) {
      const where = `seed ${seed}, round ${round}, piece ${index}`;
      const seconds = piece.samples.length / SAMPLE_RATE;
      assert.equal(piece.startSeconds, at / SAMPLE_RATE, where);
      assert.ok(isSame(piece.samples, audio.subarray(at, at + piece.samples.length)), where);
      assert.ok(
        seconds > 0 && seconds <= 30 && (seconds >= 20 || index === pieces.length - 1),
        `${where}: ${seconds} s`,
      );
      at += piece.samples.length;
    }
    assert.equal(at, audio.length);
  }
});

test('a cut falls into the pause between 20 and 30 s', async () => {
  const audio = noise(50, 8000, seeded(1));
  audio.fill(0, 23.4 * SAMPLE_RATE, 23.6 * SAMPLE_RATE);

  const pieces = await Array.fromAsync(cutPieces(inChunks(audio, () => 4096)));

  assert.equal(pieces.length, 2);
  assert.ok(pieces[1]!.startSeconds > 23.4 && pieces[1]!.startSeconds < 23.6, `cut at ${pieces[1]!.startSeconds}`);
});

test('a cut falls into the pause under a rumble that is louder than the speech, and spares a short stop', async () => {
  const random = seeded(2);
  const audio = noise(50, 3000, random);
  audio.fill(0, 23.4 * SAMPLE_RATE, 23.65 * SAMPLE_RATE);
  audio.fill(0, 27 * SAMPLE_RATE, 27.1 * SAMPLE_RATE);
  for (const at of audio.keys()) audio[at]! += 12_000 * Math.sin((2 * Math.PI * 20 * at) / SAMPLE_RATE);

  const pieces = await Array.fromAsync(cutPieces(inChunks(audio, () => 4096)));

  assert.equal(pieces.length, 2);
  assert.ok(pieces[1]!.startSeconds > 23.4 && pieces[1]!.startSeconds < 23.65, `cut at ${pieces[1]!.startSeconds}`);
});

test('of two pauses, a detector turns the cut away from the one with speech, unless the other is far louder', async () => {
  const loudnesses = [
    [100, 130],
    [100, 200],
  ];

  const cuts = [];
  for (const [inSpeech, outside] of loudnesses) {
    const audio = noise(50, 8000, seeded(3));
    audio.set(noise(0.3, inSpeech!, seeded(4)), 22 * SAMPLE_RATE);
    audio.set(noise(0.3, outside!, seeded(5)), 27 * SAMPLE_RATE);
    const asked: number[] = [];
    const findSpeech = async (some: Pcm) => {
      asked.push(some.length / SAMPLE_RATE);
      // Of the seconds from 19.5 to 30.
      return [
        { startSeconds: 0, endSeconds: 7.4 },
        { startSeconds: 7.9, endSeconds: 10.5 },
      ];
    };
    const pieces = await Array.fromAsync(
      cutPieces(
        inChunks(audio, () => 4096),
        findSpeech,
      ),
    );
    assert.deepEqual(asked, [10.5]);
    cuts.push(Math.floor(pieces[1]!.startSeconds));
  }

  assert.deepEqual(cuts, [27, 22]);
});

test('a detector that cannot tell, or hears speech everywhere, changes nothing', async () => {
  const audio = noise(100, 3000, seeded(6));
  const everywhere = [{ startSeconds: 0, endSeconds: 10.5 }];
  const starts = async (findSpeech?: FindSpeech) =>
    (
      await Array.fromAsync(
        cutPieces(
          inChunks(audio, () => 10_000),
          findSpeech,
        ),
      )
    ).map((piece) => piece.startSeconds);

  const plain = await starts();

  assert.deepEqual(await starts(async () => null), plain);
  assert.deepEqual(await starts(async () => everywhere), plain);
});

test('audio of exactly 30 s stays whole, and one sample more makes a second piece', async () => {
  const lengths = [30 * SAMPLE_RATE, 30 * SAMPLE_RATE + 1];

  const counts = await Promise.all(
    lengths.map(
      async (length) => (await Array.fromAsync(cutPieces(inChunks(new Int16Array(length), () => 10_000)))).length,
    ),
  );

  assert.deepEqual(counts, [1, 2]);
});

test('silence is passed on, in long pieces, and no audio makes no piece', async () => {
  const silence = await Array.fromAsync(cutPieces(inChunks(new Int16Array(60 * SAMPLE_RATE), () => 10_000)));
  const nothing = await Array.fromAsync(cutPieces(inChunks(new Int16Array(0), () => 1)));

  assert.deepEqual(
    silence.map((piece) => piece.startSeconds),
    [0, 29.9, 59.8],
  );
  assert.deepEqual(nothing, []);
});
