import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import { openSemaphore } from './semaphore.ts';

test('calls start in order of arrival, no more at once than there are permits', async () => {
  const semaphore = openSemaphore(2);
  const started: number[] = [];
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const all = ends.map(({ promise }, n) =>
    semaphore(async () => {
      started.push(n);
      await promise;
    }),
  );
  await nextEventLoopTurn();
  assert.deepEqual(started, [0, 1]);

  ends[1]!.resolve();
  await nextEventLoopTurn();
  assert.deepEqual(started, [0, 1, 2]);

  for (const end of ends) end.resolve();
  await Promise.all(all);
  assert.deepEqual(started, [0, 1, 2, 3]);
});

test('a call that is aborted while it waits takes no permit', async () => {
  const semaphore = openSemaphore(1);
  const first = Promise.withResolvers<void>();
  const running = semaphore(() => first.promise);
  const aborting = new AbortController();
  const waiting = semaphore(() => assert.fail('started'), aborting.signal);

  aborting.abort(new Error('no longer wanted'));
  await assert.rejects(waiting, /no longer wanted/);
  first.resolve();
  await running;

  assert.equal(await semaphore(async () => 'done'), 'done');
});

test('work that fails releases its permit', async () => {
  const semaphore = openSemaphore(1);

  await assert.rejects(semaphore(() => Promise.reject(new Error('failed'))));

  assert.equal(await semaphore(async () => 'done'), 'done');
});
