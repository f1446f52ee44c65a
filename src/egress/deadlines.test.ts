import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadlines } from './deadlines.ts';

test('expireAll expires the open deadlines, and none that starts meanwhile', () => {
  const deadlines = new Deadlines();
  const expired: number[] = [];
  const open = [0, 1, 2, 3].map((at) => {
    const deadline = deadlines.start(60_000);
    deadline.onExpired = () => {
      expired.push(at);
      deadlines.start(0).onExpired = () => expired.push(-1);
    };
    return deadline;
  });
  open[1]!.cancel();
  open[1]!.cancel();

  deadlines.expireAll();

  assert.deepEqual(expired.sort(), [0, 2, 3]);
  assert.deepEqual(
    open.map(({ isExpired }) => isExpired),
    [true, false, true, true],
  );
});

test('a deadline that starts after expireAll expires at once', async () => {
  const deadlines = new Deadlines();
  deadlines.expireAll();

  const deadline = deadlines.start(60_000);
  await new Promise<void>((resolve) => {
    deadline.onExpired = resolve;
  });

  assert.ok(deadline.isExpired);
});
