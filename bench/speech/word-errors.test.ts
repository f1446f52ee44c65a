import assert from 'node:assert/strict';
import test from 'node:test';
import { countWordErrors, wordDifferences, wordErrorRate } from './word-errors.ts';

const CASES: [string, string, string, number][] = [
  ['the same', 'a b c', 'a b c', 0],
  ['case and punctuation', 'Well, “that’s” it.', "well that's it", 0],
  ['a word replaced', 'a b c', 'a x c', 1],
  ['a word left out', 'a b c', 'a c', 1],
  ['a word put in', 'a b c', 'a b x c', 1],
  ['words in another order', 'a b c d', 'b a c d', 2],
  ['nothing heard', 'a b c', '', 3],
  ['nothing said', '', 'a b', 2],
  ['a shift by one', 'a b c d e', 'x a b c d', 2],
];

for (const [what, said, heard, errors] of CASES) {
  test(`${what}: ${errors} word errors`, () => {
    assert.equal(countWordErrors(said, heard).errors, errors);
  });
}

test('the rate is over all words, so that a long text weighs more', () => {
  assert.equal(
    wordErrorRate([countWordErrors('a', 'x'), countWordErrors('a b c d e f g h i', 'a b c d e f g h i')]),
    10,
  );
});

const DIFFERENCES: [what: string, said: string, heard: string, differences: string[]][] = [
  ['nothing', 'A b.', 'a b', []],
  ['a word replaced', 'a b c', 'a x c', ['b→x']],
  ['the start left out', 'a b c', 'c', ['a→–', 'b→–']],
  ['the end added', 'a', 'a b c', ['–→b', '–→c']],
  ['everything', '', 'a', ['–→a']],
];
for (const [what, said, heard, differences] of DIFFERENCES) {
  test(`the words that differ are shown in their order: ${what}`, () => {
    const found = wordDifferences(said, heard).map((one) => `${one.said ?? '–'}→${one.heard ?? '–'}`);
    assert.deepEqual(found, differences);
  });
}
