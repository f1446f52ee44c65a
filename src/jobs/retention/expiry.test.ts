import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { makeId } from '../../platform/clock.ts';
import { eraseExpiredJobs } from './expiry.ts';

const fixture = await openJobFixture({ JOB_RETENTION_DAYS: '2', AUDIO_RETENTION_HOURS: '48' });
after(() => fixture[Symbol.asyncDispose]());
await fixture.startWorker(openFakeEngine({ says: 'Xylographers unite' }));

type Account = Awaited<ReturnType<typeof fixture.account>>;

const DAY_MS = 86_400_000;

const send = async (account: Account, seconds?: number, fields: Record<string, string> = {}) => {
  const wish: Record<string, string> = seconds === undefined ? {} : { delete_after_seconds: String(seconds) };
  return (await fixture.transcribe(account, wavFile(1), { ...wish, ...fields })).json;
};
const later = (job: { completed_at: string }, ms: number) => new Date(Date.parse(job.completed_at) + ms);
const sweep = (account: Account, now: Date, storage = fixture.storage) =>
  eraseExpiredJobs({ ...fixture, storage }, { shard: account.shard, now });
const statusOf = async (account: Account, id: string) =>
  (await fixture.get(account, '/v1/jobs/:id', { params: { id } })).status;

/** A delivery of the job's event that waits. */
async function insertDelivery(account: Account, jobId: string): Promise<void> {
  await fixture.db.run({
    text: `insert into deliveries (shard, id, account_id, webhook_id, event_id, event_type, attempt_id, next_at, created_at)
      select shard, $3, account_id, 'wh_1', id, type, $4, now() + interval '1 hour', now()
      from events where shard = $1 and job_id = $2`,
    values: [account.shard, jobId, makeId('dl'), makeId('dlv')],
  });
}

test('a job shows when it is erased, and is erased then as by DELETE', async () => {
  const account = await fixture.account();
  const job = await send(account, 3_600, { metadata: '{"n":1}' });
  const kept = await send(account);

  assert.deepEqual(
    [job.status, job.text, job.options],
    ['completed', 'Xylographers unite', { delete_after_seconds: 3600 }],
  );
  assert.equal(job.expires_at, later(job, 3_600_000).toISOString());
  assert.equal(kept.expires_at, null);
  const early = await sweep(account, later(job, 3_599_999));
  const files = (await fixture.files()).length;
  const due = await sweep(account, later(job, 3_600_000));
  const again = await sweep(account, later(kept, DAY_MS));

  assert.deepEqual([early, due, again], [0, 1, 0]);
  assert.deepEqual([await statusOf(account, job.id), await statusOf(account, kept.id)], [404, 200]);
  assert.equal((await fixture.files()).length, files - 1);
  const [event] = await fixture.db.rows<{ body: Buffer }>({
    text: 'select body from events where shard = $1 and job_id = $2',
    values: [account.shard, job.id],
  });
  const { data, metadata } = JSON.parse(event!.body.toString());
  assert.deepEqual([data.job.deleted, data.job.text, data.job.segments, metadata], [true, null, null, undefined]);
});

test('with 0 a job is erased a minute after its end, when every waiting request has read it', async () => {
  const account = await fixture.account();
  const job = await send(account, 0);

  const early = await sweep(account, later(job, 59_999));
  const due = await sweep(account, later(job, 60_000));

  assert.deepEqual([job.text, job.expires_at, early, due], ['Xylographers unite', job.completed_at, 0, 1]);
});

test('canceled jobs have a time too', async () => {
  await using idle = await openJobFixture();
  const account = await idle.account();
  const { id } = (await idle.transcribe(account, wavFile(1), { async: 'true', delete_after_seconds: '60' })).json;

  const { json } = await idle.cancel(account, id);
  const erased = await eraseExpiredJobs(idle, { shard: account.shard, now: later(json, 60_001) });

  assert.equal(Date.parse(json.expires_at) - Date.parse(json.completed_at), 60_000);
  assert.deepEqual([erased, await idle.db.rows({ text: 'select 1 from jobs' })], [1, []]);
});

test('a job waits for its deliveries, for a day at most', async () => {
  const account = await fixture.account();
  const [settled, waiting] = [await send(account, 60), await send(account, 60)];
  for (const { id } of [settled, waiting]) await insertDelivery(account, id);
  await fixture.db.run({
    text: `delete from deliveries
      where shard = $1 and event_id = (select id from events where shard = $1 and job_id = $2)`,
    values: [account.shard, settled.id],
  });

  const due = await sweep(account, later(waiting, 60_000));
  const nextDay = await sweep(account, later(waiting, 60_000 + DAY_MS - 1));
  const left = await statusOf(account, waiting.id);
  const overdue = await sweep(account, later(waiting, 60_000 + DAY_MS));

  assert.deepEqual([due, nextDay, left, overdue], [1, 0, 200, 1]);
  const dropped = await fixture.db.rows<{ status: string }>({
    text: `select status from attempts
      where shard = $1 and event_id = (select id from events where shard = $1 and job_id = $2)`,
    values: [account.shard, waiting.id],
  });
  assert.deepEqual(dropped, [{ status: 'dropped' }]);
});

test('jobs whose deliveries wait do not keep others from being erased, however many they are', async () => {
  const account = await fixture.account();
  const job = await send(account, 60);
  await fixture.db.run({
    text: `with many as (
        insert into jobs (shard, id, account_id, state, plan, word_times, format, size_bytes, duration_ms, transcript,
          created_at, completed_at, expires_at)
        select $1, 'job_' || lpad(n::text, 26, '0'), $2, 'completed', 'lite', false, 'wav', 1, 1, '', now(), now(),
          now() - interval '1 hour' + (n / 3) * interval '1 millisecond'
        from generate_series(1, 1100) as n
        returning id
      ), emitted as (
        insert into events (shard, id, account_id, type, job_id, body, created_at)
        select $1, 'evt' || id, $2, 'transcription.completed', id, '{}', now() from many
        returning id
      )
      insert into deliveries (shard, id, account_id, webhook_id, event_id, event_type, attempt_id, next_at, created_at)
      select $1, 'dl' || id, $2, 'wh_1', id, 'transcription.completed', 'dlv' || id, now(), now() from emitted`,
    values: [account.shard, account.id],
  });

  const erased = await sweep(account, later(job, 61_000));

  assert.equal(erased, 1);
  assert.equal(await statusOf(account, job.id), 404);
});

test('a sweep that dies before the audio is removed leaves no trace of the job in the database', async () => {
  const account = await fixture.account();
  const job = await send(account, 60);
  const storage = { ...fixture.storage, remove: () => Promise.reject(new Error('the process died')) };

  assert.equal(await sweep(account, later(job, 60_000), storage), 1);

  assert.equal(await statusOf(account, job.id), 404);
  assert.equal(await sweep(account, later(job, 120_000)), 0);
});

test('a time is a whole number of seconds up to what jobs are kept for', async () => {
  const account = await fixture.account();
  const files = (await fixture.files()).length;
  for (const given of ['-1', '1.5', 'soon', '', '1e3', '172801', '99999999999']) {
    const { status, json } = await fixture.transcribe(account, wavFile(1), { delete_after_seconds: given });
    assert.deepEqual([status, json.error.param], [400, 'delete_after_seconds'], given);
    assert.match(json.error.message, /a whole number from 0 to 172800\./, given);
  }

  assert.equal((await fixture.files()).length, files);
  assert.equal((await send(account, 172_800)).status, 'completed');
});
