import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { placeWords } from '../../rules/text/word-places.ts';
import type { Segment } from '../engine.ts';
import { type Heard, textOf } from './heard.ts';
import { joinMarks } from './join-marks.ts';

/** One segment whose words have 0.3 s each. */
function heard(text: string, startSeconds: number, hasWords: boolean): Heard {
  const words = text.split(' ').map((word, at) => ({
    text: word,
    startSeconds: startSeconds + 0.3 * at,
    endSeconds: startSeconds + 0.3 * (at + 1),
    confidence: 0.5,
  }));
  const endSeconds = words.at(-1)!.endSeconds;
  const segment: Segment = { text, startSeconds, endSeconds, confidence: 0.5, words: hasWords ? words : [] };
  return { transcript: { segments: [segment], language: 'en' }, untranscribed: [], repetitions: [] };
}

for (const hasWords of [true, false]) {
  test(`text and words agree where a cut is mended (${hasWords ? 'with' : 'without'} words)`, () => {
    const [before, after] = joinMarks(
      heard('And so we ask not.', 0, hasWords),
      heard('What your country,, can do for you.', 2, hasWords),
    );

    assert.equal(textOf(before.transcript), 'And so we ask not');
    assert.equal(textOf(after.transcript), 'what your country, can do for you.');
    const wordsOf = ({ transcript }: Heard) => transcript.segments[0]!.words.map(({ text }) => text).join(' ');
    if (hasWords)
      assert.deepEqual(
        [before, after].map(wordsOf),
        [before, after].map((one) => textOf(one.transcript)),
      );
  });
}

test('a translation is read as the language of its text', () => {
  const [before, after] = [heard('il a dit,', 0, false), heard('On the way', 1, false)];
  for (const one of [before, after]) one.transcript.language = 'es';

  assert.equal(textOf(joinMarks(before, after)[1].transcript), 'On the way');
  assert.equal(textOf(joinMarks(before, after, { textLanguage: 'en' })[1].transcript), 'on the way');
});

test('whatever is joined, its letters stay, and each word is in its text (seed 11)', () => {
  const random = randomFrom(11);
  const pick = (from: readonly string[]) => from[Math.floor(random.next() * from.length)]!;
  const texts = () =>
    Array.from({ length: 1 + Math.floor(random.next() * 5) }, () => {
      const word = pick([
        'the',
        'Of',
        'not',
        'What',
        'I',
        'Mr',
        '3',
        'ask',
        'London',
        'İt',
        'ǅ',
        'd’Or',
        '終',
        '"',
        '-',
      ]);
      return word + pick(['', '', '.', ',', ',,', '..', '...', '…', ',.', '?', '."', '。。']);
    }).join(' ');
  const lettersOf = (...all: Heard[]) =>
    all
      .map(({ transcript }) =>
        textOf(transcript)
          .toLowerCase()
          .replace(/[^\p{L}\p{M}\p{N}]/gu, ''),
      )
      .join('');
  for (let run = 0; run < 2000; run += 1) {
    const hasWords = random.next() < 0.5;
    const before = heard(texts(), 0, hasWords);
    const after = heard(texts(), before.transcript.segments[0]!.endSeconds + random.next() * 1.5, hasWords);
    const joined = joinMarks(before, after, { isEndCut: random.next() < 0.7, isStartCut: random.next() < 0.7 });

    assert.equal(lettersOf(...joined), lettersOf(before, after));
    for (const { transcript } of joined) {
      for (const { text, words } of transcript.segments) assert.notEqual(placeWords(text, words), null, text);
    }
  }
});
