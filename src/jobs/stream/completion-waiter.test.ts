import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import type { Database } from '../../db/database.ts';
import { makeId } from '../../platform/clock.ts';
import { openCompletionWaiter } from './completion-waiter.ts';

test('every subscription to the same job resolves at its end, also after another one was disposed', async () => {
  await using db = await openTestDatabase();
  const completions = await openCompletionWaiter(runtimeOn(db));
  const job = { shard: 1, id: makeId('job') };
  using first = completions.subscribe(job);
  using second = completions.subscribe(job);
  completions.subscribe(job)[Symbol.dispose]();

  await db.run({ text: "select pg_notify('job_ended', $1)", values: [job.id] });

  await assert.doesNotReject(Promise.all([first.ended, second.ended]));
  await completions.close();
});

test('a poll ends the wait for a job that ended or was deleted, and not for one that is yet to be inserted', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const clock = openManualClock();
  const polls = openPolls(fixture.db);
  const completions = await openCompletionWaiter(runtimeOn(polls.db, { clock }));
  const poll = async () => {
    const polled = polls.next();
    await clock.advance(1_000);
    await polled;
  };
  const submit = async () => (await fixture.transcribe(account, wavFile(1), { async: 'true' })).json.id as string;
  const isOver = (ended: Promise<void>) => Promise.race([ended.then(() => true), setImmediate(false)]);
  const keyOf = (id: string) => ({ shard: account.shard, id });
  const [canceled, deleted] = [await submit(), await submit()];
  using ofCanceled = completions.subscribe(keyOf(canceled));
  using ofDeleted = completions.subscribe(keyOf(deleted));
  using ofFuture = completions.subscribe(keyOf(makeId('job')));

  await poll();
  const before = await Promise.all([ofCanceled, ofDeleted, ofFuture].map(({ ended }) => isOver(ended)));
  await fixture.cancel(account, canceled);
  await fixture.db.run({ text: 'delete from jobs where shard = $1 and id = $2', values: [account.shard, deleted] });
  await poll();
  const after = await Promise.all([ofCanceled, ofDeleted, ofFuture].map(({ ended }) => isOver(ended)));
  await completions.close();

  assert.deepEqual(before, [false, false, false]);
  assert.deepEqual(after, [true, true, false]);
});

/** The database, without its notifications. `next` resolves when the next read has been answered and handled. */
function openPolls(db: Database) {
  let next = Promise.withResolvers<void>();
  const polled: Database = {
    ...db,
    listen: async () => async () => undefined,
    async rows(statement) {
      const rows = await db.rows(statement);
      const { resolve } = next;
      next = Promise.withResolvers();
      void setImmediate().then(() => resolve());
      return rows as never;
    },
  };
  return { db: polled, next: () => next.promise };
}
