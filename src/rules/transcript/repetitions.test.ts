import assert from 'node:assert/strict';
import test from 'node:test';
import { findRepetitions, mayRepeat } from './repetitions.ts';

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

test('a long unit is suspected from the third time on, a short one only when no speaker repeats it so often', () => {
  const loop = 'The world is a part of the world. '.repeat(3);
  const chant = 'Four more years! '.repeat(4);

  assert.deepEqual([loop, chant, 'no '.repeat(9)].map(mayRepeat), [true, false, true]);
  assert.deepEqual(findRepetitions(loop), []);
});

test('a long text without repetitions takes less than a second', () => {
  const text = Array.from({ length: 20_000 }, (_, at) => `word${(at * 7919) % 10_007}`).join(' ');
  const startedAtMs = performance.now();

  assert.deepEqual(findRepetitions(text), []);

  assert.ok(performance.now() - startedAtMs < 1000);
});
