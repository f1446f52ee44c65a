import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestDatabase, type TestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { makeId } from '../../platform/clock.ts';
import { deleteOldJobs } from './retention-store.ts';

const DAY_MS = 86_400_000;
const ENDED = new Date('2031-05-20T09:30:00.000Z');
const SHARD = 7;

function after(days: number, ms = 0): Date {
  return new Date(ENDED.getTime() + days * DAY_MS + ms);
}

async function insertJob(db: TestDatabase, { state = 'completed', audioKey = null as string | null } = {}) {
  const isOpen = state === 'queued' || state === 'processing';
  await db.run({
    text: `insert into jobs (shard, id, account_id, state, plan, word_times, format, size_bytes, duration_ms, audio_key,
        next_at, transcript, error_type, created_at, completed_at)
      values ($1, $2, 'acct_1', $3, 'lite', false, 'wav', 1, 1, $4, $5, 'text', $6, $7, $8)`,
    values: [
      SHARD,
      makeId('job'),
      state,
      audioKey,
      isOpen ? ENDED : null,
      state === 'failed' ? 'engine_error' : null,
      ENDED,
      isOpen ? null : ENDED,
    ],
  });
}

function sweep(db: TestDatabase, now: Date, limit = 100, shard = SHARD): Promise<number> {
  return deleteOldJobs(db, { shard, keepDays: 30, limit, now });
}

test('a job is deleted exactly the given number of days after its end, whatever its final state', async () => {
  await using db = await openTestDatabase();
  for (const state of ['completed', 'failed', 'canceled']) await insertJob(db, { state });

  assert.equal(await sweep(db, after(30, -1)), 0);
  assert.equal(await sweep(db, after(30)), 3);
});

test('the remaining pieces of a job are deleted with it', async () => {
  await using db = await openTestDatabase();
  await insertJob(db);
  await db.run({
    text: `insert into job_pieces (shard, job_id, lease, number, segments) select shard, id, 1, 0, '[]' from jobs`,
  });

  await sweep(db, after(30, -1));
  const [kept] = await db.rows<{ number: number }>({ text: 'select count(*) as number from job_pieces' });
  await sweep(db, after(30));
  const [left] = await db.rows<{ number: number }>({ text: 'select count(*) as number from job_pieces' });

  assert.deepEqual([kept?.number, left?.number], [1, 0]);
});

test('a job that has not ended is kept, whatever its age', async () => {
  await using db = await openTestDatabase();
  for (const state of ['queued', 'processing']) await insertJob(db, { state });

  assert.equal(await sweep(db, after(1_000)), 0);
});

test('a job whose audio is still stored is kept until the audio is erased', async () => {
  await using db = await openTestDatabase();
  await insertJob(db, { audioKey: 'a1' });

  assert.equal(await sweep(db, after(31)), 0);
  await db.run({ text: 'update jobs set audio_key = null where shard = $1', values: [SHARD] });
  assert.equal(await sweep(db, after(31)), 1);
});

test('one statement deletes at most its limit, in its shard only', async () => {
  await using db = await openTestDatabase();
  for (let i = 0; i < 5; i++) await insertJob(db);

  assert.equal(await sweep(db, after(30), 100, SHARD + 1), 0);
  const deleted = [];
  for (let i = 0; i < 4; i++) deleted.push(await sweep(db, after(30), 2));
  assert.deepEqual(deleted, [2, 2, 1, 0]);
});
