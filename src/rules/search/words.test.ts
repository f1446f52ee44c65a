import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutAccents, wordsIn } from './words.ts';

const SPLIT: [string, string][] = [
  ['Hello, There!', 'hello there'],
  ["don't  l’école", 'don t l école'],
  ['3.5 % of B2B', '3 5 of b2b'],
  ['École ÉCOLE e\u0301cole', 'école école école'],
  ['Straße STRASSE', 'strasse strasse'],
  ['Москва МОСКВА', 'москва москва'],
  ['ΟΔΟΣ οδός ΟΔΌΣ', 'οδοσ οδόσ οδόσ'],
  ['İstanbul ISTANBUL ıstanbul', 'istanbul istanbul istanbul'],
  ['ＡＢＣ ﬁne', 'abc fine'],
  ['会議室で会議', '会議 室 で 会議'],
  ['ภาษาไทยง่าย', 'ภาษา ไทย ง่าย'],
  ['我们明天开会 at 9', '我们 明天 开会 at 9'],
  ['— … !', ''],
];
for (const [text, words] of SPLIT) {
  test(`the words of "${text}" are ${words || 'none'}`, () => {
    assert.equal(
      wordsIn(text)
        .map(({ word }) => word)
        .join(' '),
      words,
    );
  });
}

const ACCENTS: [string, string][] = [
  ['Zürich', 'zurich'],
  ['Łódź', 'lodz'],
  ['Tromsø', 'tromso'],
  ['Đà Nẵng', 'da nang'],
  ['cœur, Æther, Þórr', 'coeur aether thorr'],
  ['οδός', 'οδοσ'],
  ['ёлка', 'елка'],
  ['が', 'が'],
  ['회의', '회의'],
  ['हिन्दी', 'हिन्दी'],
  ['plain', 'plain'],
];
for (const [text, words] of ACCENTS) {
  test(`the words of ${text} without accents are ${words}`, () => {
    assert.equal(
      wordsIn(text)
        .map(({ word }) => withoutAccents(word))
        .join(' '),
      words,
    );
  });
}

test('each word says where it stands in the text', () => {
  const text = '😀 Ask—会議室, Ｎot';

  const places = wordsIn(text).map(({ start, end }) => text.slice(start, end));

  assert.deepEqual(places, ['Ask', '会議', '室', 'Ｎot']);
});

test('a word of any length has a form that PostgreSQL stores', () => {
  assert.equal(wordsIn('x'.repeat(5_000))[0]?.word.length, 100);
  assert.ok(wordsIn('𝒳'.repeat(200))[0]?.word.isWellFormed());
});
