import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { until } from '../../../test/fixtures/until.ts';
import { openIdempotencyKeys } from '../../http/idempotency/idempotency.ts';

type Fixture = Awaited<ReturnType<typeof openJobFixture>>;
type Account = Awaited<ReturnType<Fixture['account']>>;

const submit = async (fixture: Fixture, account: Account, fields: Record<string, string> = {}) =>
  (await fixture.transcribe(account, wavFile(1), { async: 'true', ...fields })).json.id as string;
const balanceOf = async (fixture: Fixture) =>
  (await fixture.db.rows<{ amount: number; held: number }>({ text: 'select amount, held from accounts' }))[0]!;
const entries = async (fixture: Fixture) =>
  (await fixture.db.rows<{ kind: string }>({ text: 'select kind from ledger order by id' })).map(({ kind }) => kind);
const countOf = async (fixture: Fixture, table: 'events' | 'jobs' | 'job_pieces') =>
  (await fixture.db.rows({ text: `select 1 from ${table}` })).length;
const FREE = { amount: 10 * 60_000_000, held: 0 };

test('a queued job that is canceled ends at once: no cost, no event, no audio, and it never starts', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const id = await submit(fixture, account);

  const { status, json } = await fixture.cancel(account, id);

  assert.deepEqual([status, json.status, json.cost, json.text, json.error], [200, 'canceled', 0, null, null]);
  assert.notEqual(json.completed_at, null);
  assert.deepEqual(await fixture.job(account, id), json);
  assert.deepEqual([await balanceOf(fixture), await entries(fixture)], [FREE, ['credit', 'hold', 'release']]);
  assert.deepEqual([await fixture.files(), await countOf(fixture, 'events')], [[], 0]);
  assert.equal(await claimNextJob(fixture.db, 60_000), null);
});

test('canceling a job that is being processed aborts the engine at once and discards its result', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const engine = openFakeEngine();
  await fixture.startWorker(engine, { concurrency: 1 });
  const id = await submit(fixture, account);
  const call = await engine.nextCall();
  const stopped = new Promise((resolve) => call.options.signal.addEventListener('abort', resolve));

  const { json } = await fixture.cancel(account, id);
  await stopped;
  call.say('too late');
  const next = await submit(fixture, account);
  (await engine.nextCall()).say('next');

  assert.equal(json.status, 'canceled');
  assert.equal((await fixture.ended(account, next)).text, 'next');
  assert.equal((await fixture.job(account, id)).text, null);
  assert.deepEqual((await entries(fixture)).slice(0, 3), ['credit', 'hold', 'release']);
  assert.equal(await countOf(fixture, 'events'), 1);
  await until('the audio to be erased', async () => (await fixture.files()).length === 0);
});

test('a repeated cancel request with its Idempotency-Key gets the first answer, although its process died', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const id = await submit(fixture, account);
  const keys = openIdempotencyKeys(fixture);
  const rawHeaders = ['Idempotency-Key', 'k'];
  const request = { method: 'POST', url: `/v1/jobs/${id}/cancel`, rawHeaders } as unknown as IncomingMessage;
  const first = await keys.acquire(request, account);
  first!.identify('no body');

  const { text } = await fixture.cancel(account, id, first!);
  const again = (await keys.acquire(request, account))!.identify('no body');
  await fixture.erase(account, id);
  const afterErasure = (await keys.acquire(request, account))!;

  assert.equal(JSON.parse(text).status, 'canceled');
  assert.equal(again.kind === 'replay' && again.answer.body, text);
  assert.throws(() => afterErasure.identify('no body'), { type: 'conflict', extra: { job_id: id } });
  keys.close();
});

test('canceled jobs are counted once each, also queued jobs that are erased', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const ids = [await submit(fixture, account), await submit(fixture, account)] as const;

  await fixture.cancel(account, ids[0]);
  await fixture.cancel(account, ids[0]);
  await fixture.erase(account, ids[0]);
  await fixture.erase(account, ids[1]);

  assert.deepEqual(
    fixture.counted.map(({ id, state }) => [id, state]),
    ids.map((id) => [id, 'canceled']),
  );
});

test('a worker that missed the notification of a cancel finds it by polling', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine();
  await fixture.startWorker(engine, { concurrency: 1 });
  await submit(fixture, account);
  const call = await engine.nextCall();
  const stopped = new Promise((resolve) => call.options.signal.addEventListener('abort', resolve));

  await fixture.db.run({
    text: `update jobs set state = 'canceled', next_at = null, completed_at = clock_timestamp()`,
  });

  await stopped;
  assert.equal(call.options.signal.aborted, true);
});

test('a request that waits for a job is answered when the job is canceled', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine();
  await fixture.startWorker(engine);
  const waiting = fixture.transcribe(account, wavFile(0.1));
  await engine.nextCall();
  const [{ id }] = (await fixture.get(account, '/v1/jobs')).json.data;

  await fixture.cancel(account, id);

  const { status, json } = await waiting;
  assert.deepEqual([status, json.error.type, json.job_id], [409, 'conflict', id]);
});

test('a job that has ended cannot be canceled', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  await fixture.startWorker(openFakeEngine({ says: 'done' }));
  const id = await submit(fixture, account);
  const job = await fixture.ended(account, id);

  const { status, json } = await fixture.cancel(account, id);

  assert.deepEqual([status, json.error.type], [409, 'conflict']);
  assert.deepEqual(await fixture.job(account, id), job);
  assert.deepEqual(await entries(fixture), ['credit', 'hold', 'capture']);
});

test('of an end and a cancel at the same moment exactly one takes effect, and the ledger agrees with it', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const engine = openFakeEngine();
  await fixture.startWorker(engine, { concurrency: 1 });
  let cancels = 0;

  for (let round = 0; round < 12; round++) {
    const id = await submit(fixture, account);
    const call = await engine.nextCall();
    const [, canceled] = await Promise.all([call.say('now'), fixture.cancel(account, id)]);
    const status = await until('the end', async () => {
      const job = await fixture.job(account, id);
      return job.completed_at && job.status;
    });
    assert.equal(status, canceled.status === 200 ? 'canceled' : 'completed');
    if (canceled.status === 200) cancels++;
  }

  const all = await entries(fixture);
  assert.deepEqual(
    ['hold', 'capture', 'release'].map((kind) => all.filter((entry) => entry === kind).length),
    [12, 12 - cancels, cancels],
  );
  assert.deepEqual([(await balanceOf(fixture)).held, await countOf(fixture, 'events')], [0, 12 - cancels]);
});

test('erasing a job removes its row, its audio, and its content from events and pending deliveries', async () => {
  await using fixture = await openJobFixture({ AUDIO_RETENTION_HOURS: '1' });
  const account = await fixture.account({ credits: 10 });
  await fixture.db.run({
    text: `insert into webhooks (shard, id, account_id, url, events, secret, created_at, updated_at)
      values ($1, 'wh_test', $2, 'https://example.com/', '{transcription.completed}', '', now(), now())`,
    values: [account.shard, account.id],
  });
  await fixture.startWorker(openFakeEngine({ says: 'top secret words' }));
  const id = await submit(fixture, account, { metadata: '{"name":"secret name"}', timestamps: 'word' });
  await fixture.ended(account, id);
  assert.equal((await fixture.files()).length, 1);

  const { status } = await fixture.erase(account, id);

  assert.equal(status, 204);
  assert.equal((await fixture.get(account, '/v1/jobs/:id', { params: { id } })).status, 404);
  assert.deepEqual([await fixture.files(), await countOf(fixture, 'jobs')], [[], 0]);
  const [event] = await fixture.db.rows<{ body: Buffer }>({ text: 'select body from events' });
  const body = JSON.parse(event!.body.toString());
  assert.ok(!event!.body.includes('secret') && !event!.body.includes('a.wav'));
  assert.deepEqual([body.type, body.data.job.id, body.data.job.deleted], ['transcription.completed', id, true]);
  assert.ok(!('metadata' in body));
  assert.deepEqual(await fixture.db.rows({ text: 'select id from deliveries' }), []);
  assert.deepEqual(await fixture.db.rows({ text: 'select status from attempts' }), [{ status: 'dropped' }]);
  // The charge remains.
  assert.deepEqual(await entries(fixture), ['credit', 'hold', 'capture']);
});

test('a queued job that is erased never starts, and its hold is released', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const id = await submit(fixture, account);

  const { status } = await fixture.erase(account, id);

  assert.equal(status, 204);
  assert.deepEqual(
    [await fixture.files(), await countOf(fixture, 'jobs'), await countOf(fixture, 'events')],
    [[], 0, 0],
  );
  assert.deepEqual([await balanceOf(fixture), await entries(fixture)], [FREE, ['credit', 'hold', 'release']]);
});

test('a job that is being processed is not erased, unless it is canceled first', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const id = await submit(fixture, account);
  await claimNextJob(fixture.db, 60_000);

  const refused = await fixture.erase(account, id);
  await fixture.cancel(account, id);
  const erased = await fixture.erase(account, id);

  assert.deepEqual([refused.status, refused.json.error.type, erased.status], [409, 'conflict', 204]);
});

test("another account's job can be neither canceled, erased nor followed", async () => {
  await using fixture = await openJobFixture();
  const [owner, stranger] = [await fixture.account({ shard: 5 }), await fixture.account({ shard: 5 })];
  const id = await submit(fixture, owner);

  const answers = [await fixture.cancel(stranger, id), await fixture.erase(stranger, id)];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [404, 404],
  );
  await assert.rejects(fixture.watch(stranger, id).next(), { type: 'not_found' });
  assert.equal((await fixture.job(owner, id)).status, 'queued');
});
