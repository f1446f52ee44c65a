import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeliveryMove } from './delivery-state.ts';
import { DELIVERY_STATES, isTerminal, nextState } from './delivery-state.ts';

// state by state, what each move leads to; - where it is not legal.
const TABLE = `
           claim    reclaim  hand_back  succeed    retry    exhaust    drop
waiting    sending  -        -          -          -        -          dropped
sending    -        sending  waiting    succeeded  waiting  exhausted  dropped
succeeded  -        -        -          -          -        -          -
exhausted  -        -        -          -          -        -          -
dropped    -        -        -          -          -        -          -`;

const [moves, ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/)) as [DeliveryMove[], ...string[][]];

for (const [state, ...expected] of rows) {
  test(`a ${state} delivery moves only as drawn`, () => {
    const found = moves.map((move) => nextState(state as never, move) ?? '-');

    assert.deepEqual(found, expected);
  });
}

test('every state is in the table, and a delivery ends succeeded, exhausted or dropped', () => {
  assert.deepEqual(
    rows.map(([state]) => state),
    [...DELIVERY_STATES],
  );
  assert.deepEqual(DELIVERY_STATES.filter(isTerminal), ['succeeded', 'exhausted', 'dropped']);
});
