import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import test from 'node:test';
import { openFakeEngine } from '../../../test/fake-engine.ts';
import { openJobRoom } from '../../../test/job-fixture.ts';
import { until } from '../../../test/until.ts';
import { wavFile } from '../../../test/wav.ts';
import { openIdempotencyKeys } from '../../http/idempotency/idempotency.ts';
import { openLog } from '../../platform/log.ts';
import { openSecretBox } from '../../webhooks/secrets/secrets.ts';
import { claimNextJob } from '../queue/claim.ts';

type Room = Awaited<ReturnType<typeof openJobRoom>>;
type Account = Awaited<ReturnType<Room['account']>>;

const submit = async (room: Room, account: Account, fields: Record<string, string> = {}) =>
  (await room.transcribe(account, wavFile(1), { async: 'true', ...fields })).json.id as string;
const balanceOf = async (room: Room) =>
  (await room.db.rows<{ amount: number; held: number }>({ text: 'select amount, held from accounts' }))[0]!;
const entries = async (room: Room) =>
  (await room.db.rows<{ kind: string }>({ text: 'select kind from ledger order by id' })).map(({ kind }) => kind);
const countOf = async (room: Room, table: 'events' | 'jobs' | 'job_pieces') =>
  (await room.db.rows({ text: `select 1 from ${table}` })).length;
const FREE = { amount: 10 * 60_000_000, held: 0 };

test('a queued job that is canceled ends at once: no price, no event, no audio, no start', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 10 });
  const id = await submit(room, account);

  const { status, json } = await room.cancel(account, id);

  assert.deepEqual([status, json.status, json.cost, json.text, json.error], [200, 'canceled', 0, null, null]);
  assert.notEqual(json.completed_at, null);
  assert.deepEqual(await room.job(account, id), json);
  assert.deepEqual([await balanceOf(room), await entries(room)], [FREE, ['credit', 'hold', 'release']]);
  assert.deepEqual([await room.files(), await countOf(room, 'events')], [[], 0]);
  assert.equal(await claimNextJob(room.db, 60_000), null);
});

test('a job that is being processed is canceled: the engine is told at once, what it says is refused', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 10 });
  const engine = openFakeEngine();
  await room.startWorker(engine, { concurrency: 1 });
  const id = await submit(room, account);
  const call = await engine.nextCall();
  const stopped = new Promise((resolve) => call.options.signal.addEventListener('abort', resolve));

  const { json } = await room.cancel(account, id);
  await stopped;
  call.say('too late');
  const next = await submit(room, account);
  (await engine.nextCall()).say('next');

  assert.equal(json.status, 'canceled');
  assert.equal((await room.ended(account, next)).text, 'next');
  assert.equal((await room.job(account, id)).text, null);
  assert.deepEqual((await entries(room)).slice(0, 3), ['credit', 'hold', 'release']);
  assert.equal(await countOf(room, 'events'), 1);
  await until('the audio to be erased', async () => (await room.files()).length === 0);
});

test('a cancel that is sent again with its Idempotency-Key gets the first answer, though its process died', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 10 });
  const id = await submit(room, account);
  const keys = openIdempotencyKeys({ db: room.db, box: openSecretBox(Buffer.alloc(32, 7)), log: openLog('silent') });
  const rawHeaders = ['Idempotency-Key', 'k'];
  const request = { method: 'POST', url: `/v1/jobs/${id}/cancel`, rawHeaders } as unknown as IncomingMessage;
  const first = await keys.take(request, account);
  first!.identify('no body');

  const { text } = await room.cancel(account, id, first!);
  const again = (await keys.take(request, account))!.identify('no body');
  await room.erase(account, id);
  const afterErasure = (await keys.take(request, account))!.identify('no body');

  assert.equal(JSON.parse(text).status, 'canceled');
  assert.equal(again.kind === 'replay' && again.answer.body, text);
  assert.equal(afterErasure.kind, 'first');
  keys.close();
});

test('canceled jobs are counted, once each, also those that are erased while they wait', async () => {
  await using room = await openJobRoom();
  const account = await room.account();
  const ids = [await submit(room, account), await submit(room, account)] as const;

  await room.cancel(account, ids[0]);
  await room.cancel(account, ids[0]);
  await room.erase(account, ids[0]);
  await room.erase(account, ids[1]);

  assert.deepEqual(
    room.counted.map(({ id, state }) => [id, state]),
    ids.map((id) => [id, 'canceled']),
  );
});

test('a worker that was not told of a cancel finds out by itself', async () => {
  await using room = await openJobRoom();
  const account = await room.account();
  const engine = openFakeEngine();
  await room.startWorker(engine, { concurrency: 1 });
  await submit(room, account);
  const call = await engine.nextCall();
  const stopped = new Promise((resolve) => call.options.signal.addEventListener('abort', resolve));

  await room.db.run({ text: `update jobs set state = 'canceled', next_at = null, completed_at = clock_timestamp()` });

  await stopped;
  assert.equal(call.options.signal.aborted, true);
});

test('a request that waits for a job hears that it was canceled', async () => {
  await using room = await openJobRoom();
  const account = await room.account();
  const engine = openFakeEngine();
  await room.startWorker(engine);
  const waiting = room.transcribe(account, wavFile(0.1));
  await engine.nextCall();
  const [{ id }] = (await room.get(account, '/v1/jobs')).json.data;

  await room.cancel(account, id);

  const { status, json } = await waiting;
  assert.deepEqual([status, json.error.type, json.job_id], [409, 'conflict', id]);
});

test('a job that has ended cannot be canceled', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 10 });
  await room.startWorker(openFakeEngine({ says: 'done' }));
  const id = await submit(room, account);
  const job = await room.ended(account, id);

  const { status, json } = await room.cancel(account, id);

  assert.deepEqual([status, json.error.type], [409, 'conflict']);
  assert.deepEqual(await room.job(account, id), job);
  assert.deepEqual(await entries(room), ['credit', 'hold', 'capture']);
});

test('of an end and a cancel at the same moment one counts, and the money follows it', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 10 });
  const engine = openFakeEngine();
  await room.startWorker(engine, { concurrency: 1 });
  let cancels = 0;

  for (let round = 0; round < 12; round++) {
    const id = await submit(room, account);
    const call = await engine.nextCall();
    const [, canceled] = await Promise.all([call.say('now'), room.cancel(account, id)]);
    const status = await until('the end', async () => {
      const job = await room.job(account, id);
      return job.completed_at && job.status;
    });
    assert.equal(status, canceled.status === 200 ? 'canceled' : 'completed');
    if (canceled.status === 200) cancels++;
  }

  const all = await entries(room);
  assert.deepEqual(
    ['hold', 'capture', 'release'].map((kind) => all.filter((entry) => entry === kind).length),
    [12, 12 - cancels, cancels],
  );
  assert.deepEqual([(await balanceOf(room)).held, await countOf(room, 'events')], [0, 12 - cancels]);
});

test('a job that was erased leaves nothing: row, audio, and its content in events and deliveries that wait', async () => {
  await using room = await openJobRoom({ AUDIO_RETENTION_HOURS: '1' });
  const account = await room.account({ credits: 10 });
  await room.db.run({
    text: `insert into webhooks (lane, id, account_id, url, events, secret, created_at, updated_at)
      values ($1, 'wh_test', $2, 'https://example.com/', '{transcription.completed}', '', now(), now())`,
    values: [account.lane, account.id],
  });
  await room.startWorker(openFakeEngine({ says: 'top secret words' }));
  const id = await submit(room, account, { metadata: '{"name":"secret name"}', timestamps: 'word' });
  await room.ended(account, id);
  assert.equal((await room.files()).length, 1);

  const { status } = await room.erase(account, id);

  assert.equal(status, 204);
  assert.equal((await room.get(account, '/v1/jobs/:id', { params: { id } })).status, 404);
  assert.deepEqual([await room.files(), await countOf(room, 'jobs')], [[], 0]);
  const [event] = await room.db.rows<{ body: Buffer }>({ text: 'select body from events' });
  const body = JSON.parse(event!.body.toString());
  assert.ok(!event!.body.includes('secret') && !event!.body.includes('a.wav'));
  assert.deepEqual([body.type, body.data.job.id, body.data.job.deleted], ['transcription.completed', id, true]);
  assert.ok(!('metadata' in body));
  assert.deepEqual(await room.db.rows({ text: 'select state from deliveries' }), [{ state: 'dropped' }]);
  assert.deepEqual(await room.db.rows({ text: 'select status from attempts' }), [{ status: 'dropped' }]);
  // What was paid stays paid.
  assert.deepEqual(await entries(room), ['credit', 'hold', 'capture']);
});

test('a queued job that is erased never starts, and its hold is given back', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 10 });
  const id = await submit(room, account);

  const { status } = await room.erase(account, id);

  assert.equal(status, 204);
  assert.deepEqual([await room.files(), await countOf(room, 'jobs'), await countOf(room, 'events')], [[], 0, 0]);
  assert.deepEqual([await balanceOf(room), await entries(room)], [FREE, ['credit', 'hold', 'release']]);
});

test('a job that is being processed is not erased, unless it is canceled first', async () => {
  await using room = await openJobRoom();
  const account = await room.account();
  const id = await submit(room, account);
  await claimNextJob(room.db, 60_000);

  const refused = await room.erase(account, id);
  await room.cancel(account, id);
  const erased = await room.erase(account, id);

  assert.deepEqual([refused.status, refused.json.error.type, erased.status], [409, 'conflict', 204]);
});

test("another account's job can be neither canceled, erased nor followed", async () => {
  await using room = await openJobRoom();
  const [owner, stranger] = [await room.account({ lane: 5 }), await room.account({ lane: 5 })];
  const id = await submit(room, owner);

  const answers = [await room.cancel(stranger, id), await room.erase(stranger, id)];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [404, 404],
  );
  await assert.rejects(room.watch(stranger, id).next(), { type: 'not_found' });
  assert.equal((await room.job(owner, id)).status, 'queued');
});
