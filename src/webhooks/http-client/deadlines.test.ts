import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeadlineWheel } from './deadlines.ts';

test('expireAll does not expire deadlines that start meanwhile', () => {
  const wheel = new DeadlineWheel(1_000);
  let expired = 0;
  function watch(): void {
    const deadline = wheel.start(50);
    deadline.onExpired = () => {
      expired += 1;
      if (expired < 1_000) watch();
      else deadline.cancel();
    };
  }
  watch();

  wheel.expireAll();

  assert.equal(expired, 1);
  expired = 1_000;
});

test('a deadline that starts after expireAll expires at the next tick', async () => {
  const wheel = new DeadlineWheel(60_000);
  wheel.expireAll();

  const deadline = wheel.start(60_000);
  await new Promise<void>((resolve) => {
    deadline.onExpired = resolve;
  });

  assert.ok(deadline.isExpired);
});

test('a cancelled deadline does not expire', () => {
  const wheel = new DeadlineWheel(1_000);
  const deadline = wheel.start(50);
  deadline.onExpired = () => assert.fail('expired');
  deadline.cancel();

  wheel.expireAll();

  assert.equal(deadline.isExpired, false);
});
