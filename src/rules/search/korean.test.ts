import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutParticle } from './korean.ts';

const NOUNS: [string, string | null][] = [
  ['회의를', '회의'],
  ['회의에서는', '회의'],
  ['고양이를', '고양이'],
  ['서울에서', '서울'],
  ['서울로', '서울'],
  ['부산으로', '부산'],
  ['학생들에게', '학생'],
  ['예산과', '예산'],
  ['집에', '집'],
  ['회의', '회'],
  ['예산', null],
  ['사과', null],
  ['부산로', null],
  ['내일', null],
  ['ai가', 'ai'],
  ['2027년부터', '2027년'],
  ['budget', null],
  ['를', null],
];
for (const [word, noun] of NOUNS) {
  test(`${word} is ${noun ?? 'a word'} ${noun === null ? 'without' : 'with'} a particle`, () => {
    assert.equal(withoutParticle(word, 1), noun);
  });
}

test('a noun of two syllables that ends like a particle is kept where two must be left', () => {
  assert.equal(withoutParticle('회의', 2), null);
  assert.equal(withoutParticle('회의는', 2), '회의');
});
