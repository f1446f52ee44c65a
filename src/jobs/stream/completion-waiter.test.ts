import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../../test/database.ts';
import { makeId, systemClock } from '../../platform/clock.ts';
import { openLog } from '../../platform/log.ts';
import { openJobEndings } from './completion-waiter.ts';

test('everybody who waits for the same job learns of its end, also when another one has left', async () => {
  await using db = await openTestDatabase();
  const endings = await openJobEndings({ db, clock: systemClock, log: openLog('silent') });
  const job = { shard: 1, id: makeId('job') };
  using first = endings.watch(job);
  using second = endings.watch(job);
  endings.watch(job)[Symbol.dispose]();

  await db.run({ text: "select pg_notify('job_ended', $1)", values: [job.id] });

  await assert.doesNotReject(Promise.all([first.ended, second.ended]));
  await endings.close();
});
