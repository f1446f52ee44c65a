import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { packWords, unpackWords } from './packed-words.ts';

const SEED = 77;

type Word = { text: string; startSeconds: number; endSeconds: number; confidence: number | null };

const word = (text: string, startSeconds: number, endSeconds: number, confidence: number | null = null): Word => ({
  text,
  startSeconds,
  endSeconds,
  confidence,
});

test('words are the words of the text, with times and confidences in thousandths', () => {
  const segments = [
    { text: 'one two', startSeconds: 0.5, words: [word('one', 0.5, 0.9, 0.93), word('two', 0.95, 1.2)] },
    { text: 'three', startSeconds: 60, words: [word('three', 60, 61.0004)] },
  ].map((segment) => ({ ...segment, endSeconds: 70 }));

  const packed = packWords(segments);

  assert.equal(packed, '[[null,[0,50],[400,250],[930,null]],[null,[0],[1000],null]]');
  assert.deepEqual(unpackWords(segments, packed!), [segments[0]!.words, [word('three', 60, 61)]]);
});

test('words with estimated times are marked', () => {
  const estimated = { ...word('two', 1.2, 1.4), estimated: true as const };
  const segments = [{ text: 'one two', startSeconds: 1, endSeconds: 2, words: [word('one', 1, 1.2), estimated] }];

  const packed = packWords(segments);

  assert.equal(packed, '[[null,[0,0],[200,200],null,[1]]]');
  assert.deepEqual(unpackWords(segments, packed!), [segments[0]!.words]);
});

test('words that are not the text split at spaces keep their own texts', () => {
  const words = [word('New York', 1, 2), word('', 2, 2), word('東', 2, 3)];
  const segments = [{ text: 'New York, 東', startSeconds: 1.5, endSeconds: 3, words }];

  assert.deepEqual(unpackWords(segments, packWords(segments)!), [words]);
});

test('a segment without words beside one with words has none; without any words nothing is stored', () => {
  const empty = { text: '', startSeconds: 0, endSeconds: 1, words: [] };
  const silent = { ...empty, text: 'a b' };
  const segments = [empty, silent, { ...silent, words: [word('a', 0, 0.5), word('b', 0.5, 1)] }];

  assert.deepEqual(
    unpackWords(segments, packWords(segments)!).map((words) => words.length),
    [0, 0, 2],
  );
  assert.equal(packWords([empty, silent]), null);
});

test('an edited segment has its new words at the old times while their number is the same', () => {
  const words = [word('ask', 0, 0.5), word('knot', 0.5, 1)];
  const segment = { text: 'ask knot', startSeconds: 0, endSeconds: 1, words };
  const packed = packWords([segment])!;

  assert.deepEqual(unpackWords([{ ...segment, text: 'Ask not' }], packed), [
    [word('Ask', 0, 0.5), word('not', 0.5, 1)],
  ]);
  assert.deepEqual(unpackWords([{ ...segment, text: 'ask' }], packed), [[]]);
});

test(`random words come back to the millisecond (seed ${SEED})`, () => {
  const random = randomFrom(SEED);
  for (let run = 0; run < 500; run++) {
    const segments = Array.from({ length: random.integer(4) + 1 }, () => {
      const startSeconds = random.integer(4_000_000) / 1000;
      const words = Array.from({ length: random.integer(6) }, () => {
        const start = startSeconds + random.next() * 30;
        const confidence = random.next() < 0.5 ? null : random.integer(1001) / 1000;
        return word(random.pick(['a', 'b c', '', '"', 'é']), start, start + random.next() * 3, confidence);
      });
      const text = words.map((one) => one.text).join(random.pick([' ', '']));
      return { text, startSeconds, endSeconds: startSeconds + 30, words };
    });

    const unpacked = unpackWords(
      segments,
      packWords(segments) ?? JSON.stringify(segments.map(() => [[], [], [], null])),
    );

    const ms = (seconds: number) => Math.round(seconds * 1000);
    const shown = (words: Word[]) =>
      words.map((one) => [one.text, ms(one.startSeconds), ms(one.endSeconds), one.confidence]);
    assert.deepEqual(
      unpacked.map(shown),
      segments.map(({ words }) => shown(words)),
    );
  }
});
