import assert from 'node:assert/strict';
import test from 'node:test';
import { changeMerges, type MergeChanges, type SpeakerMerges, shownNames } from './speaker-merges.ts';

const CASES: [title: string, before: SpeakerMerges, changes: MergeChanges, after: SpeakerMerges | null][] = [
  ['is merged into another one', {}, { B: 'A' }, { B: 'A' }],
  ['is shown by itself again', { B: 'A', C: 'A' }, { B: null }, { C: 'A' }],
  ['that is merged into a merged one is merged into its speaker', { B: 'A' }, { C: 'B' }, { B: 'A', C: 'A' }],
  ['takes along those that are merged into it', { C: 'B' }, { B: 'A' }, { C: 'A', B: 'A' }],
  ['is merged into another one than before', { B: 'A' }, { B: 'C' }, { B: 'C' }],
  ['changes its place with the one that is merged into it', { B: 'A' }, { B: null, A: 'B' }, { A: 'B' }],
  ['is not merged into itself', {}, { A: 'A' }, null],
  ['is not merged into one that is merged into it', { B: 'A' }, { A: 'B' }, null],
  ['is not merged in a circle by one request', {}, { A: 'B', B: 'C', C: 'A' }, null],
  ['that was never merged may be taken back', {}, { A: null }, {}],
];

for (const [title, before, changes, after] of CASES) {
  test(`a speaker ${title}`, () => assert.deepEqual(changeMerges(before, changes), after));
}

test('names of merged speakers are not shown', () => {
  assert.deepEqual(shownNames({ A: 'Anna', B: 'Bob' }, { B: 'A' }), { A: 'Anna' });
  assert.deepEqual(shownNames({ B: 'Bob' }, { B: 'A' }), null);
  assert.deepEqual(shownNames({ B: 'Bob' }, null), { B: 'Bob' });
  assert.deepEqual(shownNames(null, { B: 'A' }), null);
});
