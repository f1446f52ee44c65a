import assert from 'node:assert/strict';
import test from 'node:test';
import { unshownCharacters, visibleText } from './shown-characters.ts';

test('scripts that run from right to left or join their letters cannot be shown letter by letter', () => {
  const texts = ['Grüße, Ελλάδα, Київ, Հայ, ქართ – 5 €', 'שלום שלום', 'مر', 'नम', '日本', '👍'];

  assert.deepEqual(
    unshownCharacters(texts, (codePoint) => codePoint < 0x1_0000),
    [...'שלוםمرनम日本', '👍'],
  );
});

test('letters are composed, and characters that are never visible are left out', () => {
  assert.equal(visibleText('u\u0308b\u00ader\u200b\ufe0f'), 'über');
});
