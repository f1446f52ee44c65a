import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { deleteOldHours } from './usage-store.ts';

const fixture = await openJobFixture({ CREDIT_RATE_PRO: '2', CREDIT_RATE_LITE: '0.5' });
after(() => fixture[Symbol.asyncDispose]());
await fixture.startWorker(openFakeEngine({ says: 'words' }), { pro: failingEngine() });

type Account = Awaited<ReturnType<typeof fixture.account>>;

/** Completes audio of a second, and fails longer audio. */
function failingEngine() {
  const engine = openFakeEngine({ says: 'words' });
  const transcribe: typeof engine.transcribe = async (piece, options) => {
    if (piece.length > 16_000) return await Promise.reject(new Error('a fault of the test'));
    return await engine.transcribe(piece, options);
  };
  return { ...engine, transcribe };
}

const usage = async (account: Account, query: object = {}) =>
  (await fixture.get(account, '/v1/usage', { query: { limit: undefined, bucket: 'day', ...query } })).json;
const send = async (account: Account, seconds: number, plan: string) =>
  (await fixture.transcribe(account, wavFile(seconds), { plan })).json;
const chargedBy = async (account: Account) => {
  const [row] = await fixture.db.rows<{ units: number }>({
    text: `select -sum(amount_change + held_change)::bigint as units from ledger
      where shard = $1 and account_id = $2 and kind <> 'credit'`,
    values: [account.shard, account.id],
  });
  return row!.units;
};
const countedFor = async (account: Account, bucket: string) => {
  const [row] = await fixture.db.rows<{ units: number }>({
    text: 'select sum(cost_units)::bigint as units from job_usage where shard = $1 and account_id = $2 and bucket = $3',
    values: [account.shard, account.id, bucket],
  });
  return row!.units;
};

async function insertRow(account: Account, bucket: 'hour' | 'day', startsAt: string, part: object = {}) {
  const row = { plan: 'pro', model: 'm1', keyId: 'key_1', jobs: 1, costUnits: 60_000_000, ...part };
  await fixture.db.run({
    text: `insert into job_usage (shard, account_id, bucket, starts_at, plan, model, key_id, jobs, failed, canceled,
        audio_ms, billed_ms, cost_units)
      values ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, 1500, 1000, $9)`,
    values: [account.shard, account.id, bucket, startsAt, row.plan, row.model, row.keyId, row.jobs, row.costUnits],
  });
}

test('each job counts once, when it ends, with its length and its cost, as in the ledger', async () => {
  const account = await fixture.account({ credits: 10 });
  assert.deepEqual((await usage(account)).data, []);

  await send(account, 1, 'pro');
  await send(account, 3, 'lite');
  await send(account, 2, 'pro');
  const found = await usage(account);
  const byPlan = (await usage(account, { group_by: 'plan' })).data;

  const day = new Date().toISOString().slice(0, 10);
  const { start, ...figures } = found.data[0];
  assert.equal(found.data.length, 1);
  assert.deepEqual([start, found.bucket], [`${day}T00:00:00.000Z`, 'day']);
  const expected = { jobs: 3, failed: 1, canceled: 0, audio_seconds: 6, billed_seconds: 4, cost: 0.058333 };
  assert.deepEqual(figures, { end: new Date(Date.parse(day) + 86_400_000).toISOString(), ...expected });
  assert.deepEqual(
    byPlan.map((row: typeof figures & { plan: string }) => [
      row.plan,
      row.jobs,
      row.failed,
      row.billed_seconds,
      row.cost,
    ]),
    [
      ['lite', 1, 0, 3, 0.025],
      ['pro', 2, 1, 1, 0.033333],
    ],
  );
  assert.equal(await countedFor(account, 'day'), await chargedBy(account));
  assert.equal(await countedFor(account, 'hour'), await chargedBy(account));
});

test('jobs are grouped by model and by the key that sent them; a job that never started has no model', async () => {
  const account = await fixture.account();
  await send(account, 1, 'lite');
  const queued = await fixture.account({ shard: account.shard });
  await insertRow(queued, 'day', new Date().toISOString().slice(0, 10), { model: '', keyId: '' });

  const byModel = (await usage(account, { group_by: 'model' })).data;
  const byKey = (await usage(account, { group_by: 'key' })).data;
  const without = await Promise.all(['model', 'key'].map((by) => usage(queued, { group_by: by })));

  assert.deepEqual([byModel[0].model, byModel[0].jobs], ['fake', 1]);
  assert.deepEqual([byKey[0].key_id, byKey[0].jobs], ['key_00000000000000000000000000', 1]);
  assert.deepEqual([without[0].data[0].model, without[1].data[0].key_id], [null, null]);
});

test('a canceled job counts as canceled, and usage outlives an erased job', async () => {
  const account = await fixture.account({ credits: 10 });
  const { id } = await send(account, 1, 'lite');
  await using idle = await openJobFixture();
  const other = await idle.account({ credits: 10 });
  const waiting = (await idle.transcribe(other, wavFile(1), { async: 'true' })).json.id as string;
  const deleted = (await idle.transcribe(other, wavFile(1), { async: 'true' })).json.id as string;

  await fixture.erase(account, id);
  await idle.cancel(other, waiting);
  await idle.erase(other, deleted);

  const [completed] = (await usage(account)).data;
  const [canceled] = (await idle.get(other, '/v1/usage', { query: { bucket: 'day' } })).json.data;
  assert.deepEqual([completed.jobs, completed.audio_seconds], [1, 1]);
  assert.deepEqual([canceled.jobs, canceled.canceled, canceled.billed_seconds, canceled.cost], [2, 2, 0, 0]);
});

test('buckets are hours, days and months in UTC; from is part of the time and to is not', async () => {
  const account = await fixture.account();
  for (const day of ['2026-08-31', '2026-09-01', '2026-09-30', '2026-10-01']) await insertRow(account, 'day', day);
  const hours = Array.from({ length: 3 }, (_, index) => new Date(Date.now() - (index + 1) * 3_600_000));
  for (const hour of hours) {
    await insertRow(account, 'hour', new Date(hour.setUTCMinutes(0, 0, 0)).toISOString());
  }

  const months = await usage(account, { bucket: 'month', from: '2026-09-15', to: '2026-10-01' });
  const days = await usage(account, { from: '2026-08-31', to: '2026-09-30' });
  const recent = await usage(account, { bucket: 'hour', from: hours[1]!.toISOString() });

  assert.deepEqual([months.from, months.to], ['2026-09-01T00:00:00.000Z', '2026-10-01T00:00:00.000Z']);
  assert.deepEqual(
    months.data.map((row: { end: string; jobs: number }) => [row.end, row.jobs]),
    [['2026-10-01T00:00:00.000Z', 2]],
  );
  assert.deepEqual(
    days.data.map(({ start }: { start: string }) => start.slice(0, 10)),
    ['2026-08-31', '2026-09-01'],
  );
  assert.deepEqual(
    recent.data.map(({ start }: { start: string }) => start),
    [hours[1]!.toISOString(), hours[0]!.toISOString()],
  );
});

test('a time that is malformed, reversed or too long is refused by the name of the field', async () => {
  const account = await fixture.account();
  const refused: [object, string][] = [
    [{ from: 'yesterday' }, 'from'],
    [{ to: '2026-13-01' }, 'to'],
    [{ from: '2026-02-01', to: '2026-01-01' }, 'from'],
    [{ from: '2020-01-01', to: '2026-01-01' }, 'from'],
    [{ bucket: 'hour', from: '2020-01-01', to: '2020-01-02' }, 'from'],
  ];

  const answers = [];
  for (const [query] of refused) answers.push(await usage(account, query));

  assert.deepEqual(
    answers.map(({ error }) => [error.type, error.param]),
    refused.map(([, param]) => ['invalid_request', param]),
  );
});

test('an answer of more than 10,000 rows is refused', async () => {
  const account = await fixture.account();
  await fixture.db.run({
    text: `insert into job_usage (shard, account_id, bucket, starts_at, plan, model, key_id, jobs, failed, canceled,
        audio_ms, billed_ms, cost_units)
      select $1, $2, 'day', date_trunc('day', now(), 'UTC'), 'pro', 'm' || n, 'k', 1, 0, 0, 1, 1, 1
      from generate_series(1, 10001) as n`,
    values: [account.shard, account.id],
  });

  const all = await usage(account, { group_by: 'model' });

  assert.match(all.error.message, /more than 10000 rows/);
  assert.equal((await usage(account)).data[0].jobs, 10_001);
});

test('the figures of hours are deleted after their time, those of days are not', async () => {
  const account = await fixture.account();
  const now = new Date('2031-06-01T00:30:00.000Z');
  for (const bucket of ['hour', 'day'] as const) await insertRow(account, bucket, '2031-03-01T00:00:00.000Z');
  const sweep = (at: Date) => deleteOldHours(fixture.db, { shard: account.shard, keepDays: 92, limit: 500, now: at });
  // Of other accounts of the shard.
  await fixture.db.run({ text: 'delete from job_usage where account_id <> $1', values: [account.id] });

  const early = await sweep(new Date(now.getTime() - 3_600_000));
  const due = await sweep(now);

  const left = await fixture.db.rows<{ bucket: string }>({
    text: 'select bucket from job_usage where shard = $1 and account_id = $2',
    values: [account.shard, account.id],
  });
  assert.deepEqual([early, due, left], [0, 1, [{ bucket: 'day' }]]);
});

test('usage is answered as CSV, always with the same columns', async () => {
  const account = await fixture.account();
  await insertRow(account, 'day', '2026-11-21T00:00:00Z', { model: '=m' });
  const query = { limit: undefined, from: '2026-11-21', to: '2026-11-22', format: 'csv' };

  const { text } = await fixture.get(account, '/v1/usage', { query });
  const byModel = await fixture.get(account, '/v1/usage', { query: { ...query, group_by: 'model' } });

  const head = 'start,end,plan,model,key_id,jobs,failed,canceled,audio_seconds,billed_seconds,cost';
  const day = '2026-11-21T00:00:00.000Z,2026-11-22T00:00:00.000Z';
  assert.equal(text, `${head}\r\n${day},,,,1,0,0,1.5,1,1\r\n`);
  assert.equal(byModel.text, `${head}\r\n${day},,'=m,,1,0,0,1.5,1,1\r\n`);
});
