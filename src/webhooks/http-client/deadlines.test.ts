import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDeadlineWheel } from './deadlines.ts';

test('when all deadlines are ended, one that starts another as it ends is called once', () => {
  const wheel = openDeadlineWheel(1_000);
  let ends = 0;
  function watch(): void {
    const deadline = wheel.start(50);
    deadline.onOver = () => {
      ends += 1;
      if (ends < 1_000) watch();
      else deadline.cancel();
    };
  }
  watch();

  wheel.expireAll();

  assert.equal(ends, 1);
  ends = 1_000;
});

test('a deadline that is started after all were ended is over at once', async () => {
  const wheel = openDeadlineWheel(60_000);
  wheel.expireAll();

  const deadline = wheel.start(60_000);
  await new Promise<void>((resolve) => {
    deadline.onOver = resolve;
  });

  assert.ok(deadline.isOver);
});

test('a deadline that was cancelled is not ended', () => {
  const wheel = openDeadlineWheel(1_000);
  const deadline = wheel.start(50);
  deadline.onOver = () => assert.fail('ended');
  deadline.cancel();

  wheel.expireAll();

  assert.equal(deadline.isOver, false);
});
