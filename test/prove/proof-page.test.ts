import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../structure/sources.ts';
import { FAULTS } from './faults.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import { proofPage, tableOf } from './proof-page.ts';
import { problemsOf, type Run } from './prove.ts';

const ROW = { promise: 'a thing is once', judge: 'queue', calls: 1_200, unknown: 3, objects: 40, refused: [] };
const RUN: Run = {
  seed: 1,
  fileSystem: null,
  faults: [{ name: FAULTS[0]!.name, seconds: 4 }],
  rows: [ROW],
  gaps: [],
  seconds: 90,
};

test('the table adds up the runs of each promise', () => {
  const second = { ...RUN, seed: 2, rows: [{ ...ROW, refused: ['a', 'b'] }] };

  assert.match(tableOf([RUN, second]), /\| a thing is once \| queue \| 2,400 \| 6 \| 80 \| 2 \|/);
  assert.match(
    proofPage({ runs: [RUN, second], commit: 'abc1234', date: new Date(0) }),
    /1970-01-01, commit abc1234, seeds 1 to 2/,
  );
});

test('a run fails when something is refused, or when too little was tried', () => {
  assert.deepEqual(problemsOf(RUN), []);
  assert.deepEqual(problemsOf({ ...RUN, gaps: ['not called'], rows: [{ ...ROW, refused: ['twice'] }] }), [
    'not called',
    'a thing is once: twice',
  ]);
});

test('docs/proof.md has the faults and planted bugs of now, and refuses nothing; if not, run: npm run prove', () => {
  const page = readFileSync(path.join(ROOT, 'docs/proof.md'), 'utf8');

  const lacking = [...FAULTS, ...PLANTED_BUGS].filter(({ name }) => !page.includes(name));
  assert.deepEqual(lacking, []);
  assert.doesNotMatch(page, /^\|.*\| [1-9]\d* \|$|not tried/m);
});
