import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { makeId, systemClock } from '../../platform/clock.ts';
import { openLog } from '../../platform/log.ts';
import { openCompletionWaiter } from './completion-waiter.ts';

test('every subscription to the same job resolves at its end, also after another one was disposed', async () => {
  await using db = await openTestDatabase();
  const completions = await openCompletionWaiter({ db, clock: systemClock, log: openLog('silent') });
  const job = { shard: 1, id: makeId('job') };
  using first = completions.subscribe(job);
  using second = completions.subscribe(job);
  completions.subscribe(job)[Symbol.dispose]();

  await db.run({ text: "select pg_notify('job_ended', $1)", values: [job.id] });

  await assert.doesNotReject(Promise.all([first.ended, second.ended]));
  await completions.close();
});
