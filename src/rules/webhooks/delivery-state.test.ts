import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DELIVERY_MOVES, DELIVERY_STATES } from './delivery-state.ts';

// For each state, the state that each move leads to; - where the move is not legal.
const TABLE = `
           succeed    retry    postpone  exhaust    drop
waiting    succeeded  waiting  waiting   exhausted  dropped
succeeded  -          -        -         -          -
exhausted  -          -        -         -          -
dropped    -          -        -         -          -`;

const [moves, ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/)) as [string[], ...string[][]];

for (const [state, ...expected] of rows) {
  test(`a ${state} delivery makes only the moves of the table`, () => {
    const found = moves.map((move) => DELIVERY_MOVES.find((row) => row.from === state && row.move === move)?.to ?? '-');

    assert.deepEqual(found, expected);
  });
}

test('every state is in the table', () => {
  assert.deepEqual(
    rows.map(([state]) => state),
    [...DELIVERY_STATES],
  );
});
