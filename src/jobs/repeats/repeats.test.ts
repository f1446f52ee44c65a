import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { TEST_ACTOR } from '../../../test/fixtures/caller.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { formOf, openJobFixture } from '../../../test/fixtures/job.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Account } from '../../accounts/account.ts';
import { deleteExpiredUploadRequests } from './repeat-store.ts';

const fixture = await openJobFixture({ AUDIO_RETENTION_HOURS: '1' });
test.after(() => fixture[Symbol.asyncDispose]());

type Sent = { retries?: string; seconds?: number; fields?: Record<string, string>; signal?: AbortSignal };

/** POST /v1/audio/transcriptions as a client of the OpenAI API sends it. */
function send(account: Account, { retries, seconds = 1, fields = {}, signal }: Sent = {}) {
  return fixture.call(account, 'POST', '/v1/audio/transcriptions', {
    upload: formOf(wavFile(seconds), Object.entries({ model: 'whisper-1', ...fields })),
    header: (name) => (name === 'x-stainless-retry-count' ? (retries ?? null) : null),
    ...(signal && { signal }),
  });
}

const jobsOf = async ({ shard, id }: Account) =>
  await fixture.db.rows<{ id: string }>({
    text: 'select id from jobs where shard = $1 and account_id = $2',
    values: [shard, id],
  });

/** An upload whose caller hangs up once its job is made. */
async function sendAndHangUp(account: Account): Promise<void> {
  const caller = new AbortController();
  const sent = send(account, { signal: caller.signal });
  await until('the job', async () => (await jobsOf(account)).length === 1);
  caller.abort();
  assert.equal((await sent).status, 503);
}

test('a retry of an official client is answered with the job that runs, or that has just ended', async () => {
  const account = await fixture.account({ credits: 10 });
  const engine = openFakeEngine();
  const worker = await fixture.startWorker(engine);

  const first = send(account, { retries: '0' });
  const call = await engine.nextCall();
  const second = send(account, { retries: '1' });
  call.say('hello');
  const answers = [await first, await second, await send(account, { retries: '2' })];
  await worker.stop();

  assert.deepEqual(
    answers.map(({ status, json }) => [status, json.text]),
    Array(3).fill([200, 'hello']),
  );
  assert.equal((await jobsOf(account)).length, 1);
});

/** An upload of an account, as it is identified when it has arrived. */
function identify(account: Account, retries: string | null) {
  return fixture.repeats.identify(
    { account, actor: TEST_ACTOR, header: () => retries },
    { endpoint: 'transcriptions', fingerprint: 'f' },
  );
}
const { signal: neverAborted } = new AbortController();

test('a retry waits for the jobs of all equal uploads before it, and for none after it', async () => {
  const account = await fixture.account();
  const before = [identify(account, null), identify(account, '1')];
  const retry = identify(account, '2');
  using _after = identify(account, null);
  let isFound = false;

  const finding = fixture.repeats.findEarlier(retry, neverAborted).then(() => {
    isFound = true;
  });
  for (const upload of before) {
    await fixture.db.rows({ text: 'select 1' });
    assert.equal(isFound, false);
    upload[Symbol.dispose]();
  }

  await finding;
});

test('a retry that waits for the job of an equal upload ends when its caller hangs up', async () => {
  const account = await fixture.account();
  using _first = identify(account, null);
  using retry = identify(account, '1');
  const caller = new AbortController();

  const finding = fixture.repeats.findEarlier(retry, caller.signal);
  caller.abort(new Error('hung up'));

  await assert.rejects(finding, /hung up/);
});

const OTHERS: [string, Sent][] = [
  ['without the header', {}],
  ['with other audio', { retries: '1', seconds: 2 }],
  ['with other fields', { retries: '1', fields: { response_format: 'text' } }],
];
for (const [what, sent] of OTHERS) {
  test(`an upload after one that was answered, ${what}, makes a job of its own`, async () => {
    const account = await fixture.account();
    const engine = openFakeEngine();
    const worker = await fixture.startWorker(engine);

    for (const each of [{}, sent]) {
      const answering = send(account, each);
      (await engine.nextCall()).say('hello');
      assert.equal((await answering).status, 200);
    }
    await worker.stop();

    assert.equal((await jobsOf(account)).length, 2);
  });
}

test('an upload whose caller hung up, as a proxy does with its 504, is joined by the next equal one only', async () => {
  const account = await fixture.account();
  await sendAndHangUp(account);
  const engine = openFakeEngine();
  const worker = await fixture.startWorker(engine);

  const second = send(account);
  (await engine.nextCall()).say('hello');
  assert.equal((await second).json.text, 'hello');
  assert.equal((await jobsOf(account)).length, 1);
  const third = send(account);
  (await engine.nextCall()).say('hello');
  await third;
  await worker.stop();

  assert.equal((await jobsOf(account)).length, 2);
});

test('the upload of another account or a job that ended long ago is not joined', async () => {
  const [account, other] = [await fixture.account(), await fixture.account()];
  await sendAndHangUp(account);
  const [{ id }] = (await jobsOf(account)) as [{ id: string }];
  const engine = openFakeEngine();
  const worker = await fixture.startWorker(engine);
  (await engine.nextCall()).say('hello');
  await fixture.ended(account, id);
  await fixture.db.run({
    text: `update jobs set completed_at = completed_at - interval '11 minutes' where shard = $1 and id = $2`,
    values: [account.shard, id],
  });

  for (const each of [account, other]) {
    const answering = send(each, { retries: '1' });
    (await engine.nextCall()).say('hello');
    await answering;
  }
  await worker.stop();

  assert.deepEqual([(await jobsOf(account)).length, (await jobsOf(other)).length], [2, 1]);
});

test('what is stored of an upload is deleted after a day', async () => {
  const account = await fixture.account();
  await sendAndHangUp(account);
  const [{ id }] = (await jobsOf(account)) as [{ id: string }];
  const { shard } = account;
  const stored = () =>
    fixture.db.rows({ text: 'select from upload_requests where shard = $1 and job_id = $2', values: [shard, id] });

  await deleteExpiredUploadRequests(fixture.db, { shard, limit: 10 });
  assert.equal((await stored()).length, 1);
  await fixture.db.run({
    text: `update upload_requests set expires_at = expires_at - interval '1 day' where shard = $1 and job_id = $2`,
    values: [shard, id],
  });
  await deleteExpiredUploadRequests(fixture.db, { shard, limit: 10 });

  assert.equal((await stored()).length, 0);
});
