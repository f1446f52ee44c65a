import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobMove } from './job-state.ts';
import { isTerminal, JOB_STATES, nextState } from './job-state.ts';

// state by state, what each move leads to; - where it is not legal.
const TABLE = `
             start       hand_back  release  complete   fail    cancel
queued       processing  -          -        -          failed  canceled
processing   -           queued     queued   completed  failed  canceled
completed    -           -          -        -          -       -
failed       -           -          -        -          -       -
canceled     -           -          -        -          -       -`;

const [moves, ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/)) as [JobMove[], ...string[][]];

for (const [state, ...expected] of rows) {
  test(`a ${state} job moves only as drawn`, () => {
    const found = moves.map((move) => nextState(state as never, move) ?? '-');

    assert.deepEqual(found, expected);
  });
}

test('every state is in the table, and a job ends in completed, failed or canceled', () => {
  assert.deepEqual(
    rows.map(([state]) => state),
    [...JOB_STATES],
  );
  assert.deepEqual(JOB_STATES.filter(isTerminal), ['completed', 'failed', 'canceled']);
});
