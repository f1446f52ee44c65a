import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WHISPER_LANGUAGES } from '../../models/catalogue.ts';
import { canonicalLanguages, isSameLanguage, modelLanguage, remoteLanguage } from './language.ts';

const LARGE_V3 = [...WHISPER_LANGUAGES, 'yue'];

const CASES: [given: string, whisper: string | null, largeV3: string | null][] = [
  ['en', 'en', 'en'],
  ['en-US', 'en', 'en'],
  ['zh-TW', 'zh', 'zh'],
  ['zh-Hant-HK', 'zh', 'zh'],
  ['fil', 'tl', 'tl'],
  ['tl', 'tl', 'tl'],
  ['jv', 'jw', 'jw'],
  ['he', 'he', 'he'],
  ['iw', 'he', 'he'],
  ['no', 'no', 'no'],
  ['nb', 'no', 'no'],
  ['nb-NO', 'no', 'no'],
  ['nn', 'nn', 'nn'],
  ['yue', null, 'yue'],
  ['sr-Latn', 'sr', 'sr'],
  ['xx', null, null],
  ['tlh', null, null],
];
for (const [given, whisper, largeV3] of CASES) {
  test(`${given} is ${whisper ?? 'unknown'} for Whisper, and ${largeV3 ?? 'unknown'} for its large-v3`, () => {
    const [tag] = Intl.getCanonicalLocales(given);

    assert.equal(modelLanguage(tag!, WHISPER_LANGUAGES), whisper);
    assert.equal(modelLanguage(tag!, LARGE_V3), largeV3);
  });
}

test('every code that Whisper knows is found again in its canonical spelling', () => {
  for (const code of LARGE_V3) {
    const [tag] = Intl.getCanonicalLocales(code);

    assert.equal(modelLanguage(tag!, LARGE_V3), code);
  }
});

test('Norwegian is found under any of its codes, and not where a model has none of them', () => {
  assert.equal(modelLanguage('nn', ['en', 'no']), 'no');
  assert.equal(modelLanguage('no', ['nb']), 'nb');
  assert.equal(modelLanguage('nb', ['da', 'sv']), null);
});

test('a remote server is sent the primary code in the spelling of Whisper', () => {
  const sent = ['fil', 'jv', 'nb-NO', 'en-US', 'zh-TW', 'he', 'yue', 'xx'].map(remoteLanguage);

  assert.deepEqual(sent, ['tl', 'jw', 'no', 'en', 'zh', 'he', 'yue', 'xx']);
});

test("a model's codes are shown in their canonical spelling, each once", () => {
  assert.deepEqual(canonicalLanguages(['zh', 'jw', 'en', 'jv', 'tl', 'no good']), ['en', 'fil', 'jv', 'no good', 'zh']);
});

test('a language is the same under all of its codes, whatever the region', () => {
  const same = [
    ['en-GB', 'en'],
    ['fil', 'tl'],
    ['jv', 'jw'],
    ['he', 'iw'],
    ['nb', 'no'],
    ['nn', 'nb'],
    ['zh-TW', 'zh'],
  ];
  const others = [
    ['de', 'en'],
    ['yue', 'zh'],
    ['nb', 'da'],
  ];

  for (const [asked, answered] of same) assert.equal(isSameLanguage(asked!, answered!), true, `${asked} ${answered}`);
  for (const [asked, answered] of others)
    assert.equal(isSameLanguage(asked!, answered!), false, `${asked} ${answered}`);
});
