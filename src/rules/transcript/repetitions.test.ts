import assert from 'node:assert/strict';
import test from 'node:test';
import { processorTime } from '../../../test/fixtures/processor-time.ts';
import { countPhrase, findRepetitions, mayRepeat, repeatedPhrase } from './repetitions.ts';

const once = (text: string) =>
  findRepetitions(text).reduceRight((kept, { keptEnd, end }) => kept.slice(0, keptEnd) + kept.slice(end), text);

const SPEECH = [
  'No, no, no! I said no.',
  'No no no no no, that is wrong.',
  'Four more years! Four more years! Four more years!',
  'Ha ha ha ha ha.',
  'The number is 0 0 0 0 0 0 0 0 0 0 7.',
  'It is spelled w w w dot a a a a a a a a a a dot org.',
  'Buffalo buffalo Buffalo buffalo buffalo buffalo Buffalo.',
  '哈哈哈哈哈',
  'いえいえいえ、大丈夫です',
  '',
];

for (const text of SPEECH) {
  test(`speech is no repetition: ${text || '(nothing)'}`, () => assert.deepEqual(findRepetitions(text), []));
}

const LOOPS: [string, string][] = [
  [`I agree. ${'Thank you. '.repeat(12)}`, 'I agree. Thank you. '],
  [
    'You can use the "Videos" button to use the "Videos" button to use the "Videos" button to use the "Videos" button to use the "Videos" button to use the',
    'You can use the "Videos" button to',
  ],
  [`${'no '.repeat(40)}way`, 'no way'],
  [`We all say ${'ha'.repeat(60)}!`, 'We all say ha!'],
  [`今日は${'ありがとうございます。'.repeat(6)}`, '今日はありがとうございます。'],
  [`${'哈'.repeat(50)}`, '哈'],
  [`${'THE END. '.repeat(6)}${'The end. '.repeat(6)}`, 'THE END. '],
  [`${'Go on then. '.repeat(7)}Stop. ${'And again so. '.repeat(7)}`, 'Go on then. Stop. And again so. '],
];

for (const [text, kept] of LOOPS) {
  test(`a loop is kept once: ${text.slice(0, 40)}…`, () => assert.equal(once(text), kept));
}

const UNSUSPECTED = [
  ...SPEECH.filter((text) => !text.startsWith('Four more')),
  'Very very very very good.',
  'London Bridge is falling down, falling down, falling down. London Bridge is falling down, my fair lady.',
  'Row, row, row your boat, gently down the stream. Merrily, merrily, merrily, merrily, life is but a dream.',
  'This land is your land, this land is my land.',
  'I have a dream that one day this nation will rise up. I have a dream that one day on the red hills of Georgia.',
  'I know, I know, I know. It is what it is, and it is what it was.',
  'And if thou wilt, remember, and if thou wilt, forget.',
  'We shall fight on the beaches, we shall fight on the landing grounds, we shall fight in the fields.',
];
for (const text of UNSUSPECTED) test(`no loop is suspected: ${text}`, () => assert.equal(mayRepeat(text), false));

const SUSPECTED: [text: string, times: number][] = [
  ['The world is a part of the world. '.repeat(3), 3],
  ['Thank you for watching. '.repeat(4), 4],
  ['Four more years! '.repeat(4), 4],
  ['Half a league, half a league, half a league onward, all in the valley of Death rode the six hundred.', 3],
];
for (const [text, times] of SUSPECTED) {
  test(`a loop is suspected, but is no loop by its text alone: ${text.slice(0, 40)}…`, () => {
    assert.deepEqual([mayRepeat(text), repeatedPhrase(text)?.times, findRepetitions(text)], [true, times, []]);
  });
}

test('of a text that is known to be a loop, three repetitions of a phrase are kept once', () => {
  const [found, ...others] = findRepetitions(
    'Yes. Thank you for watching. Thank you for watching. Thank you for watching.',
    true,
  );

  assert.deepEqual([found?.start, found?.keptEnd, found?.end, others], [5, 27, 75, []]);
});

test('a repeated phrase is counted in other texts, in a row or not', () => {
  const { phrase } = repeatedPhrase('Thank you so much. '.repeat(3))!;

  const texts = ['thank you so much', 'Thank you so much, and thank you, so much!', 'Thanks so much', ''];
  assert.deepEqual(
    texts.map((text) => countPhrase(phrase, text)),
    [1, 2, 0, 0],
  );
  assert.equal(repeatedPhrase('one two three'), null);
});

test('a long text takes less than a second of processor time, with repetitions and without', () => {
  const text = Array.from({ length: 20_000 }, (_, at) => `word${(at * 7919) % 10_007}`).join(' ');
  const usedMs = processorTime();

  assert.deepEqual(findRepetitions(text), []);
  assert.equal(repeatedPhrase('thank you so '.repeat(5_000))?.times, 3_333);

  assert.ok(usedMs() < 1_000);
});
