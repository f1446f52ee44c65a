import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveSql, nextState } from './moves.ts';

test('a move names the state before it and the state after it, in SQL', () => {
  assert.deepEqual(moveSql('start'), { to: "state = 'processing'", from: "state = 'queued'" });
  assert.deepEqual(moveSql('cancel'), { to: "state = 'canceled'", from: "state in ('queued', 'processing')" });
});

test('moves that lead to different states are no statement', () => {
  assert.throws(() => moveSql('complete', 'fail'), /lead to different states/);
});

test('a job that has ended does not move, and a queued job does not complete', () => {
  assert.equal(nextState('processing', 'completed'), 'completed');
  assert.throws(() => nextState('queued', 'completed'), /no move leads from queued to completed/);
  assert.throws(() => nextState('failed', 'queued'), /no move leads from failed to queued/);
});
