import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import type { Interval } from './intervals.ts';
import { dividePhrases, type PhraseOptions } from './phrases.ts';

type Pair = [number, number];
const intervals = (pairs: Pair[]) => pairs.map(([startSeconds, endSeconds]) => ({ startSeconds, endSeconds }));
const round = (value: number) => Math.round(value * 100) / 100;

/** Start, end and speech of each phrase, in seconds of the audio. */
function divide(pairs: Pair[], options: Partial<PhraseOptions> = {}) {
  const middle: PhraseOptions['quietest'] = ({ startSeconds, endSeconds }) => (startSeconds + endSeconds) / 2;
  const given = { lengthSeconds: 30, maxSeconds: 9, quietest: middle, ...options };
  return dividePhrases(intervals(pairs), given).map(({ startSeconds, endSeconds, speech }) => ({
    audio: [startSeconds, endSeconds].map(round),
    speech: speech.map((one) => [one.startSeconds + startSeconds, one.endSeconds + startSeconds].map(round)),
  }));
}

test('intervals over short gaps are one phrase, with a margin around its speech', () => {
  const phrases = divide([
    [5.5, 7],
    [7.4, 8.5],
  ]);

  const speech = [
    [5.5, 7],
    [7.4, 8.5],
  ];
  assert.deepEqual(phrases, [{ audio: [5.2, 8.8], speech }]);
});

test('a long gap ends a phrase, and the audio in the middle of it is in none', () => {
  const phrases = divide([
    [0, 2],
    [12, 14],
  ]);

  assert.deepEqual(
    phrases.map(({ audio }) => audio),
    [
      [0, 2.3],
      [11.7, 14.3],
    ],
  );
});

test('a run that is too long is cut in its longest gap', () => {
  const phrases = divide([
    [0, 4],
    [4.2, 5],
    [5.6, 11],
  ]);

  assert.deepEqual(
    phrases.map(({ speech }) => speech.at(-1)![1]),
    [5, 11],
  );
});

test('a run without gaps is cut at the quietest place of the second half of a part', () => {
  const asked: Pair[] = [];
  const quietest: PhraseOptions['quietest'] = ({ startSeconds, endSeconds }) => {
    asked.push([round(startSeconds), round(endSeconds)]);
    return 6;
  };

  const phrases = divide([[0, 12]], { quietest });

  assert.deepEqual(asked, [[3, 8]]);
  assert.deepEqual(
    phrases.map(({ speech }) => speech),
    [[[0, 6]], [[6, 12]]],
  );
});

test('whatever the speech and the limit, all of it is in one phrase, in order, and none is too long', () => {
  const seed = 38;
  const random = randomFrom(seed);
  for (let round_ = 0; round_ < 300; round_++) {
    const maxSeconds = 2 + random.integer(28);
    const pairs: Pair[] = [];
    for (let at = random.next() * 3; at < 30; at += random.next() * 2) {
      const end = Math.min(30, at + 0.1 + random.next() * (random.integer(4) === 0 ? 25 : 3));
      pairs.push([at, end]);
      at = end + 0.03;
    }

    const phrases = dividePhrases(intervals(pairs), {
      lengthSeconds: 30,
      maxSeconds,
      quietest: ({ startSeconds, endSeconds }) => startSeconds + random.next() * (endSeconds - startSeconds),
    });

    const where = `seed ${seed}, round ${round_}`;
    const said = phrases.reduce(
      (sum, { speech }) => sum + speech.reduce((all, one) => all + one.endSeconds - one.startSeconds, 0),
      0,
    );
    const wanted = pairs.reduce((sum, [start, end]) => sum + end - start, 0);
    assert.ok(Math.abs(said - wanted) < 0.001, `${where}: ${said} of ${wanted} s`);
    for (const [index, phrase] of phrases.entries()) {
      assert.ok(phrase.endSeconds - phrase.startSeconds <= maxSeconds + 0.001, where);
      const overlap = phrases[index - 1]?.overlapsNext ? 1 : 0;
      assert.ok(index === 0 || phrase.startSeconds >= phrases[index - 1]!.endSeconds - overlap - 0.001, where);
    }
  }
});

test('neighbours that are apart are no phrase, however short the gap', () => {
  const isApart = (one: Interval, next: Interval) => one.startSeconds === 1 && next.startSeconds === 3.2;
  const options = { lengthSeconds: 10, maxSeconds: 9, quietest: () => assert.fail('nothing is cut'), isApart };

  const phrases = dividePhrases(
    intervals([
      [0, 0.8],
      [1, 3],
      [3.2, 5],
    ]),
    options,
  );

  assert.deepEqual(
    phrases.map(({ startSeconds, endSeconds }) => [startSeconds, endSeconds]),
    [
      [0, 3.1],
      [3.1, 5.3],
    ],
  );
});
