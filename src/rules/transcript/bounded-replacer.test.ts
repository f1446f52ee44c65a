import assert from 'node:assert/strict';
import test from 'node:test';
import { BoundedReplacer } from './bounded-replacer.ts';

const segment = (text: string) => ({ text, words: [] });
const texts = (segments: { text: string }[] | null) => segments?.map(({ text }) => text) ?? null;

test('replacements apply until the text has twice the bytes and the free ones, and no longer after that', () => {
  // 4 bytes of text become 10: 8 and 1 free are less.
  const replacer = new BoundedReplacer([{ from: 'a', to: '12345678' }], 3);

  const first = replacer.replace([segment('a b ')]);
  const second = replacer.replace([segment('a b ')]);
  const third = replacer.replace([segment('b')]);

  assert.deepEqual([texts(first), second, third], [['12345678 b '], null, null]);
});

test('text that has grown to exactly the bound is replaced', () => {
  const replacer = new BoundedReplacer([{ from: 'a', to: 'é6789' }], 4);

  assert.deepEqual(texts(replacer.replace([segment('a')])), ['é6789']);
});

test('a long transcript may grow by as much as it has', () => {
  const replacer = new BoundedReplacer([{ from: 'word', to: 'twowords' }], 0);

  const pieces = Array.from({ length: 1000 }, () => replacer.replace([segment('word'), segment('word')]));

  assert.ok(pieces.every((piece) => texts(piece)!.join() === 'twowords,twowords'));
});
