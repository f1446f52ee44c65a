import assert from 'node:assert/strict';
import test from 'node:test';
import { findAll, firstMatchFrom, MAX_MATCHES, stepMatch } from './find.ts';

const TEXTS = ['The budget (draft).', 'no match', 'BUDGET of İstanbul: budget'];

test('a text is found in any case, and its signs have no meaning', () => {
  const found = (query: string) =>
    findAll(TEXTS, query).map(({ segment, from, to }) => `${segment} ${TEXTS[segment]!.slice(from, to)}`);

  assert.deepEqual(found('budget'), ['0 budget', '2 BUDGET', '2 budget']);
  assert.deepEqual(found('(draft).'), ['0 (draft).']);
  assert.deepEqual(found('.*'), []);
  assert.deepEqual([found(''), found('  ')], [[], []]);
});

test('the search stops at its limit', () => {
  assert.equal(findAll(Array(3).fill('a'.repeat(MAX_MATCHES - 1)), 'a').length, MAX_MATCHES);
});

test('after the last match comes the first, and before the first the last', () => {
  const matches = findAll(TEXTS, 'budget');

  assert.deepEqual(
    [stepMatch(matches, 0, 1), stepMatch(matches, 2, 1), stepMatch(matches, 0, -1), stepMatch(matches, -1, -1)],
    [1, 0, 2, 2],
  );
  assert.deepEqual([stepMatch([], 0, 1), firstMatchFrom([], 3)], [-1, -1]);
  assert.deepEqual(
    [0, 1, 2, 3].map((segment) => firstMatchFrom(matches, segment)),
    [0, 1, 1, 0],
  );
});
