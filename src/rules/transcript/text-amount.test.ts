import assert from 'node:assert/strict';
import test from 'node:test';
import { judgeAmount, spokenLetters } from './text-amount.ts';

type Case = {
  text: string;
  speechSeconds: number;
  audioSeconds?: number;
  hasErrors?: boolean;
  amount: string;
  why: string;
};

const CASES: Case[] = [
  { text: '', speechSeconds: 6, amount: 'none', why: 'no text' },
  { text: '♪ ♪ ♪ . …', speechSeconds: 6, amount: 'none', why: 'notes and full stops' },
  { text: 'Yes.', speechSeconds: 0.5, amount: 'enough', why: 'a short answer' },
  { text: 'No.', speechSeconds: 3, amount: 'enough', why: 'a long word' },
  { text: 'You', speechSeconds: 8, amount: 'little', why: 'one word for 8 s' },
  { text: 'He was not an ill disposed young man', speechSeconds: 20, amount: 'little', why: 'the start only' },
  { text: 'He was not an ill disposed young man', speechSeconds: 5, amount: 'enough', why: 'half the usual tempo' },
  { text: '你好世界今天天气很好', speechSeconds: 5, amount: 'enough', why: 'Chinese, two characters a second' },
  { text: 'お元気ですか', speechSeconds: 4, amount: 'enough', why: 'Japanese' },
  { text: '안녕하세요 여러분', speechSeconds: 5, amount: 'enough', why: 'Korean' },
  { text: '555 123 4567', speechSeconds: 6, amount: 'enough', why: 'a spelled number' },
  { text: 'نعم سيدي الرئيس المحترم', speechSeconds: 4.5, amount: 'enough', why: 'Arabic, without vowels' },
  { text: 'and so my fellow americans ask '.repeat(15), speechSeconds: 8, amount: 'much', why: '48 letters a second' },
  {
    text: 'and so my fellow americans ask '.repeat(10),
    speechSeconds: 8,
    amount: 'enough',
    why: 'three times the tempo',
  },
  {
    text: 'No, no, absolutely not.',
    speechSeconds: 0.2,
    audioSeconds: 0.3,
    amount: 'enough',
    why: 'a very short piece',
  },
  { text: 'Yes, he', speechSeconds: 2, hasErrors: true, amount: 'little', why: 'a short text after errors' },
  { text: 'Yes, he came home', speechSeconds: 2, hasErrors: true, amount: 'enough', why: 'a usual text after errors' },
];

for (const { text, speechSeconds, audioSeconds = speechSeconds, hasErrors, amount, why } of CASES) {
  const heard = { speechSeconds, audioSeconds, ...(hasErrors && { hasErrors }) };
  test(`${why}: ${amount}`, () => assert.equal(judgeAmount(text, heard), amount));
}

test('letters are counted as they are spoken', () => {
  assert.deepEqual(['a-b c!', 'é', '東京', 'かな', '한글', '42', '🙂'].map(spokenLetters), [3, 1, 6, 6, 6, 8, 0]);
});
