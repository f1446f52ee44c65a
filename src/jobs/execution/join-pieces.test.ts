import assert from 'node:assert/strict';
import test from 'node:test';
import type { Heard } from '../../engines/evidence/heard.ts';
import { joinPieces, type PieceResult } from './join-pieces.ts';

function heard(text: string, startSeconds: number, endSeconds: number, language: string | null = null): Heard {
  const segments = [{ text, startSeconds, endSeconds, confidence: null, words: [] }];
  return { transcript: { segments, language }, untranscribed: [], repetitions: [] };
}

/** Of a channel, from the second `startSeconds` on. */
function result(channel: number, startSeconds: number, cutSeconds: number | null, text: string): PieceResult {
  return { channel, startSeconds, cutSeconds, isWhole: false, end: 0, heard: heard(text, 0, 25) };
}

async function joined(results: PieceResult[]) {
  const all = await Array.fromAsync(joinPieces(ReadableStream.from(results)));
  return all.map(({ channel, startSeconds, heard: { transcript } }) => [
    channel,
    startSeconds,
    transcript.segments[0]?.text,
    transcript.segments[0]?.startSeconds,
  ]);
}

test('words that two overlapping pieces have in common are in the text once, and the times stay', async () => {
  const pieces = [
    result(0, 0, 25, 'ask not what your country can do for'),
    result(0, 24.5, 49, 'can do for you ask what you'),
    result(0, 48.5, null, 'what you can do'),
  ];

  assert.deepEqual(await joined(pieces), [
    [0, 0, 'ask not what your country can do for', 0],
    [0, 24.5, 'you ask what you', 0],
    [0, 48.5, 'can do', 0],
  ]);
});

test('each channel is joined by itself, and a piece that ends in a pause is passed on at once', async () => {
  const pieces = [
    result(0, 0, 25, 'one two three'),
    result(1, 0, null, 'three four'),
    result(0, 24.5, null, 'three four five'),
  ];

  assert.deepEqual(await joined(pieces), [
    [1, 0, 'three four', 0],
    [0, 0, 'one two three', 0],
    [0, 24.5, 'four five', 0],
  ]);
});

test('a piece whose next one is not transcribed is passed on at the end', async () => {
  assert.deepEqual(await joined([result(0, 0, 25, 'one two')]), [[0, 0, 'one two', 0]]);
});

test('marks and capitals that only a cut in a pause has made are left out, and a long pause keeps them', async () => {
  const spoken = (startSeconds: number, text: string, endSeconds: number): PieceResult => ({
    ...result(0, startSeconds, null, ''),
    heard: heard(text, 0.2, endSeconds, 'en'),
  });
  const pieces = [
    spoken(0, 'And so, my fellow Americans, ask not.', 24.6),
    spoken(25, 'What your country can do for you,', 24.8),
    spoken(50, 'And what you can do.', 20),
    spoken(75, 'Of all that.', 2),
  ];

  const texts = (await joined(pieces)).map(([, , text]) => text);

  assert.deepEqual(texts, [
    'And so, my fellow Americans, ask not',
    'what your country can do for you,',
    'and what you can do.',
    'Of all that.',
  ]);
});

test('a piece waits for the next one only where its full stop may be left out', async () => {
  const seen: string[] = [];
  async function* results() {
    for (const [at, text] of ['One two,', 'three four.', 'Of five'].entries()) {
      seen.push(`in ${text}`);
      yield { ...result(0, 25 * at, null, ''), heard: heard(text, 0.2, 24.8, 'en') };
    }
  }
  for await (const { heard: one } of joinPieces(results())) seen.push(`out ${one.transcript.segments[0]!.text}`);

  assert.deepEqual(seen, [
    'in One two,',
    'out One two,',
    'in three four.',
    'in Of five',
    'out three four',
    'out of five',
  ]);
});
