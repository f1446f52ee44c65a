import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../test/fixtures/random.ts';
import { type Pcm, SAMPLE_RATE } from '../engines/engine.ts';
import type { FindSpeech } from './detect-ahead.ts';
import { cutPieces } from './split.ts';

/** Random samples between -`amplitude` and `amplitude`. */
function noise(seconds: number, amplitude: number, random: () => number): Pcm {
  return Int16Array.from({ length: Math.round(seconds * SAMPLE_RATE) }, () => (random() * 2 - 1) * amplitude);
}

function isSame(one: Pcm, other: Pcm): boolean {
  return one.length === other.length && one.every((sample, at) => sample === other[at]);
}

const spokenEverywhere: FindSpeech = async (some) => [{ startSeconds: 0, endSeconds: some.length / SAMPLE_RATE }];

async function* inChunks(pcm: Pcm, nextLength: () => number): AsyncGenerator<Pcm> {
  for (let at = 0; at < pcm.length; ) {
    const chunk = pcm.slice(at, at + nextLength());
    at += chunk.length;
    yield chunk;
  }
}

test('the pieces together are the audio, for any length and any chunks', async () => {
  const seed = 20_261_121;
  const random = randomFrom(seed).next;
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

test('the cut is in the pause between 20 and 30 s', async () => {
  const audio = noise(50, 8000, randomFrom(1).next);
  audio.fill(0, 23.4 * SAMPLE_RATE, 23.6 * SAMPLE_RATE);

  const pieces = await Array.fromAsync(cutPieces(inChunks(audio, () => 4096)));

  assert.equal(pieces.length, 2);
  assert.ok(pieces[1]!.startSeconds > 23.4 && pieces[1]!.startSeconds < 23.6, `cut at ${pieces[1]!.startSeconds}`);
});

test('with a rumble louder than the speech, the cut is still in the long pause, not in a short stop', async () => {
  const random = randomFrom(2).next;
  const audio = noise(50, 3000, random);
  audio.fill(0, 23.4 * SAMPLE_RATE, 23.65 * SAMPLE_RATE);
  audio.fill(0, 27 * SAMPLE_RATE, 27.1 * SAMPLE_RATE);
  for (const at of audio.keys()) audio[at]! += 12_000 * Math.sin((2 * Math.PI * 20 * at) / SAMPLE_RATE);

  const pieces = await Array.fromAsync(cutPieces(inChunks(audio, () => 4096)));

  assert.equal(pieces.length, 2);
  assert.ok(pieces[1]!.startSeconds > 23.4 && pieces[1]!.startSeconds < 23.65, `cut at ${pieces[1]!.startSeconds}`);
});

test('of two pauses, the cut is in the one without detected speech, unless that one is far louder', async () => {
  const loudnesses = [
    [100, 130],
    [100, 200],
  ];

  const cuts = [];
  for (const [inSpeech, outside] of loudnesses) {
    const audio = noise(50, 8000, randomFrom(3).next);
    audio.set(noise(0.3, inSpeech!, randomFrom(4).next), 22 * SAMPLE_RATE);
    audio.set(noise(0.3, outside!, randomFrom(5).next), 27 * SAMPLE_RATE);
    const findSpeech = async () => [
      { startSeconds: 0, endSeconds: 26.9 },
      { startSeconds: 27.4, endSeconds: 30 },
    ];
    const pieces = await Array.fromAsync(
      cutPieces(
        inChunks(audio, () => 4096),
        findSpeech,
      ),
    );
    cuts.push(Math.floor(pieces[0]!.cutSeconds ?? pieces[1]!.startSeconds));
  }

  assert.deepEqual(cuts, [27, 22]);
});

test('a detector that fails, or detects speech everywhere, does not change the cuts', async () => {
  const audio = noise(100, 3000, randomFrom(6).next);
  const pieces = async (findSpeech?: FindSpeech) =>
    await Array.fromAsync(
      cutPieces(
        inChunks(audio, () => 10_000),
        findSpeech,
      ),
    );

  const [plain, failed, everywhere] = [await pieces(), await pieces(async () => null), await pieces(spokenEverywhere)];

  assert.deepEqual(failed, plain);
  assert.equal(everywhere[0]!.cutSeconds, plain[1]!.startSeconds);
});

test('pieces overlap by about a second where the cut is in speech, and the speech of each ends at the cut', async () => {
  const audio = noise(100, 3000, randomFrom(9).next);

  const pieces = await Array.fromAsync(
    cutPieces(
      inChunks(audio, () => 10_000),
      spokenEverywhere,
    ),
  );

  let reached = 0;
  for (const [index, { startSeconds, samples, speech, cutSeconds }] of pieces.entries()) {
    const endSeconds = startSeconds + samples.length / SAMPLE_RATE;
    const from = Math.round(startSeconds * SAMPLE_RATE);
    assert.ok(samples.length <= 30 * SAMPLE_RATE);
    assert.ok(isSame(samples, audio.subarray(from, from + samples.length)));
    assert.equal(cutSeconds === null, index === pieces.length - 1);
    const [only, ...others] = speech!;
    assert.deepEqual(others, []);
    assert.ok(Math.abs(startSeconds + only!.startSeconds - reached) < 0.001);
    reached = startSeconds + only!.endSeconds;
    assert.ok(Math.abs(reached - (cutSeconds ?? 100)) < 0.001);
    const next = pieces[index + 1];
    if (next) assert.ok(endSeconds - next.startSeconds >= 0.5 && endSeconds - next.startSeconds <= 1);
  }
});

test('each second is given to the detector once, after a second of context, and several blocks at a time', async () => {
  const audio = noise(100, 3000, randomFrom(10).next);
  const asked: number[] = [];
  const answers: (() => void)[] = [];
  const bothAsked = Promise.withResolvers<void>();
  const findSpeech: FindSpeech = async (some) => {
    asked.push(some.length / SAMPLE_RATE);
    if (asked.length === 2) bothAsked.resolve();
    await new Promise<void>((resolve) => answers.push(resolve));
    return [];
  };

  const cutting = Array.fromAsync(
    cutPieces(
      inChunks(audio, () => 10_000),
      findSpeech,
    ),
  );
  await bothAsked.promise;
  for (let answered = 0; answered < 4; answered += 1) {
    while (answers.length === 0) await new Promise((resolve) => setImmediate(resolve));
    answers.shift()!();
  }
  const pieces = await cutting;

  assert.deepEqual(asked, [30, 31, 31, 11]);
  assert.equal(
    pieces.reduce((sum, { samples }) => sum + samples.length, 0),
    audio.length,
  );
});

test('a block in which detection failed leaves the speech of the other pieces known', async () => {
  let calls = 0;
  const findSpeech: FindSpeech = async (some) => {
    calls += 1;
    return calls === 1 ? null : [{ startSeconds: 0, endSeconds: some.length / SAMPLE_RATE }];
  };

  const pieces = await Array.fromAsync(
    cutPieces(
      inChunks(noise(100, 3000, randomFrom(11).next), () => 10_000),
      findSpeech,
    ),
  );

  assert.equal(pieces[0]!.speech, null);
  assert.ok(pieces.at(-1)!.speech!.length > 0);
});

test('audio of exactly 30 s is one piece, one more sample makes two', async () => {
  const lengths = [30 * SAMPLE_RATE, 30 * SAMPLE_RATE + 1];

  const counts = await Promise.all(
    lengths.map(
      async (length) => (await Array.fromAsync(cutPieces(inChunks(new Int16Array(length), () => 10_000)))).length,
    ),
  );

  assert.deepEqual(counts, [1, 2]);
});

test('silence gives long pieces, and empty audio gives no piece', async () => {
  const silence = await Array.fromAsync(cutPieces(inChunks(new Int16Array(60 * SAMPLE_RATE), () => 10_000)));
  const nothing = await Array.fromAsync(cutPieces(inChunks(new Int16Array(0), () => 1)));

  assert.deepEqual(
    silence.map((piece) => piece.startSeconds),
    [0, 29.9, 59.8],
  );
  assert.deepEqual(nothing, []);
});

test('pieces for an engine with a low limit are within it, and end in the pauses', async () => {
  for (const maxSeconds of [4, 9, 14.5, 20, 29.4]) {
    const audio = noise(50, 8000, randomFrom(8).next);
    for (let at = 1.9; at < 50; at += 1) audio.fill(0, at * SAMPLE_RATE, (at + 0.2) * SAMPLE_RATE);

    const pieces = await Array.fromAsync(
      cutPieces(
        inChunks(audio, () => 4096),
        undefined,
        maxSeconds,
      ),
    );

    const where = `limit ${maxSeconds} s`;
    assert.equal(
      pieces.reduce((sum, { samples }) => sum + samples.length, 0),
      audio.length,
      where,
    );
    for (const { startSeconds, samples } of pieces) {
      assert.ok(samples.length <= maxSeconds * SAMPLE_RATE, where);
      assert.ok(Math.abs(startSeconds - Math.round(startSeconds)) < 0.02, `${where}: cut at ${startSeconds}`);
    }
  }
});
