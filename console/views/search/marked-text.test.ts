import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { markedParts } from './marked-text.ts';

const shown = (text: string, ...highlights: number[][]) =>
  markedParts(text, highlights)
    .map((part) => (part.isMarked ? `[${part.text}]` : part.text))
    .join('');

test('the words that were found are marked', () => {
  assert.equal(shown('Ask what you can do.', [0, 3], [13, 16]), '[Ask] what you [can] do.');
  assert.equal(shown('all', [0, 3]), '[all]');
  assert.equal(shown('none'), 'none');
  assert.equal(shown('a < b', [2, 3]), 'a [<] b');
});

test('whatever the highlights are, the text stays as it is', () => {
  const random = randomFrom(7);
  for (let i = 0; i < 300; i++) {
    const text = 'abcdefgh'.slice(0, random.integer(9));
    const highlights = Array.from({ length: random.integer(4) }, () => [random.integer(12), random.integer(12)]);
    const parts = markedParts(text, highlights);
    assert.equal(parts.map((part) => part.text).join(''), text, JSON.stringify(highlights));
    assert.ok(parts.every((part) => part.text !== ''));
  }
});
