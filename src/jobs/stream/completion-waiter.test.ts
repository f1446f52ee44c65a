import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { makeId, systemClock } from '../../platform/clock.ts';
import { openLog } from '../../platform/log.ts';
import { openCompletionWaiter } from './completion-waiter.ts';

test('everybody who waits for the same job learns of its end, also when another one has left', async () => {
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
