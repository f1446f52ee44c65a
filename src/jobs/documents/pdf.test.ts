import assert from 'node:assert/strict';
import test from 'node:test';
import { toPdf } from './pdf.ts';

const LETTERS = 20_000;
const LONG_WORD = Array.from({ length: LETTERS }, (_, i) => ((i * 7_919) % 36).toString(36)).join('');
const WORDS = LONG_WORD.replace(/.{7}/g, '$& ');
const MARKS = `e${'\u0301'.repeat(LETTERS)}`;

/** The processor time that a PDF of the text takes, which other processes do not change. */
async function cpuMsOf(text: string): Promise<number> {
  const before = process.cpuUsage();
  const pdf = await toPdf({ title: 'A talk', facts: [], paragraphs: [{ time: '00:00:00', name: null, text }] });
  assert.equal(pdf.kind, 'file');
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

test('a long word takes about as much processor time as words of the same letters', async () => {
  await cpuMsOf('The library is loaded.');

  const [words, word, marks] = [await cpuMsOf(WORDS), await cpuMsOf(LONG_WORD), await cpuMsOf(MARKS)];

  // Laid out in one piece, the word takes 70 times as much.
  const most = 8 * Math.max(words, 50);
  assert.ok(word < most && marks < most, `${word} and ${marks} ms, and ${words} ms for words`);
});
