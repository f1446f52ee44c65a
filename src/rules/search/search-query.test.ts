import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSearchQuery, type SearchTerm, type Stem, tsqueryOf } from './search-query.ts';

const show = ({ words, isExact }: SearchTerm) => (isExact ? `"${words.join(' ')}"` : words.join('+'));

/** A short form of the parsed query. */
function parsed(text: string): string | null {
  const alternatives = parseSearchQuery(text)?.map(({ terms, excluded }) =>
    [...terms.map(show), ...excluded.map((term) => `-${show(term)}`)].join(' '),
  );
  return alternatives?.join(' | ') ?? null;
}

const PARSED: [string, string | null][] = [
  ['budget meeting', 'budget meeting'],
  ['  Budget   MEETING ', 'budget meeting'],
  ['"annual budget" meeting', '"annual budget" meeting'],
  ['budget -meeting -"next year"', 'budget -meeting -"next year"'],
  ['budget or meeting next', 'budget | meeting next'],
  ['budget OR "a b" Or c', 'budget | "a b" | c'],
  ['"or"', '"or"'],
  ["don't 3.5", 'don+t 3+5'],
  ['e-mail well-known', 'e+mail well+known'],
  ['"no end', '"no end"'],
  ['budget ! & | ( ) : * <->', 'budget'],
  ['会議室', '会議+室'],
  ['-budget', null],
  ['a or -b', null],
  ['a or', null],
  ['or', null],
  ['', null],
  ['"" ... -', null],
];
for (const [text, expected] of PARSED) {
  test(`the query ${JSON.stringify(text)} means ${expected ?? 'nothing'}`, () => {
    assert.equal(parsed(text), expected);
  });
}

/** Drops an s at the end of English words. */
const stem: Stem = (language, word) => (language === 'en' ? word.replace(/s$/, '') : null);

test('a query becomes a tsquery, with all forms of words that are not in quotes', () => {
  const query = parseSearchQuery('meetings "Annual Budgets" -no or x')!;

  const text = tsqueryOf(query, { tags: ["@it's"], languages: ['en', 'de'], stem });

  assert.equal(
    text,
    "'@it''s' & (((('meetings' | '~meetings' | 'en~meeting' | 'meeting' | '~meeting')) & (('annual') <-> ('budgets')) & !(('no' | '~no' | 'en~no'))) | ((('x' | '~x' | 'en~x'))))",
  );
});
