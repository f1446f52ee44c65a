import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { FETCH_SECRET_BOX, jsonUpload, openJobFixture } from '../../../test/fixtures/job.ts';
import { until } from '../../../test/fixtures/until.ts';
import { FORBIDDEN_URLS } from '../../../test/fixtures/webhooks/forbidden-urls.ts';
import { webhookIdOfJob } from '../../rules/ids.ts';
import { deleteOldJobs } from '../retention/retention-store.ts';

const fixture = await openJobFixture();
after(() => fixture[Symbol.asyncDispose]());
await fixture.startWorker(openFakeEngine({ says: 'hello' }));

const URL_GIVEN = 'https://hooks.example.com/jobs?key=1';
const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const OWN = { webhook_url: URL_GIVEN, webhook_secret: SECRET };

type Account = Awaited<ReturnType<typeof fixture.account>>;

const webhooksOf = ({ shard, id }: Account, from = fixture) =>
  from.db.rows<{ id: string; url: string; secret: Buffer; events: string[] }>({
    text: 'select id, url, secret, events from webhooks where shard = $1 and account_id = $2 order by id',
    values: [shard, id],
  });
const deliveriesOf = async ({ shard, id }: Account) => {
  const rows = await fixture.db.rows<{ webhook: string }>({
    text: 'select webhook_id as webhook from deliveries where shard = $1 and account_id = $2 order by webhook_id',
    values: [shard, id],
  });
  return rows.map(({ webhook }) => webhook);
};

test('the event of a job goes to the webhook of this job, and to that of no other', async () => {
  const account = await fixture.account();

  const first = await fixture.transcribe(account, wavFile(1), OWN);
  const second = await fixture.transcribe(account, wavFile(1), OWN);
  await fixture.transcribe(account, wavFile(1));

  assert.deepEqual([first.status, first.json.webhook_secret], [200, undefined]);
  const ids = [first, second].map(({ json }) => webhookIdOfJob(json.id));
  assert.deepEqual(await deliveriesOf(account), ids);
  const [row] = await webhooksOf(account);
  assert.deepEqual([row!.url, row!.events], [URL_GIVEN, ['transcription.completed', 'transcription.failed']]);
  assert.equal(row!.secret.includes('whsec_'), false);
  assert.equal(FETCH_SECRET_BOX.open(row!.id, row!.secret), SECRET);
});

test('the erasure of a job waits for whoever records its attempt, and holds nothing that this one needs', async () => {
  const account = await fixture.account();
  const { json } = await fixture.transcribe(account, wavFile(1), OWN);
  const { shard } = account;
  const id = webhookIdOfJob(json.id);
  let erasing: Promise<unknown> | null = null;

  const locked = await fixture.db.transaction(async (tx) => {
    await tx.run({ text: 'select from webhooks where shard = $1 and id = $2 for update', values: [shard, id] });
    const [own] = await tx.rows<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
    erasing = fixture.erase(account, json.id);
    await until('the erasure to wait', async () => {
      const waiting = await fixture.db.rows({
        text: 'select from pg_stat_activity where $1::int = any(pg_blocking_pids(pid))',
        values: [own!.pid],
      });
      return waiting.length > 0;
    });
    return await tx.rows({
      text: 'select from deliveries where shard = $1 and webhook_id = $2 for update nowait',
      values: [shard, id],
    });
  });
  await erasing;

  assert.equal(locked.length, 1);
  assert.deepEqual(await webhooksOf(account), []);
});

test('a job shows the URL of its webhook, and never its secret; a job without one shows neither', async () => {
  const account = await fixture.account();

  const own = await fixture.transcribe(account, wavFile(1), OWN);
  const other = await fixture.transcribe(account, wavFile(1));
  const [read, without] = await Promise.all([own, other].map(({ json }) => fixture.job(account, json.id)));

  assert.deepEqual([own.json.webhook_url, read!.webhook_url], [URL_GIVEN, URL_GIVEN]);
  assert.equal(JSON.stringify([own.json, read]).includes('whsec_'), false);
  assert.equal('webhook_url' in without!, false);
});

test('a secret that is made is shown in the answer to the request, and nowhere else', async () => {
  const account = await fixture.account();
  const wish = { webhook_url: URL_GIVEN };

  const answers = [
    await fixture.transcribe(account, wavFile(1), wish),
    await fixture.transcribe(account, wavFile(1), { ...wish, async: 'true' }),
    await fixture.post(
      account,
      '/v1/transcribe',
      jsonUpload({ ...wish, audio_url: 'https://a.example.com/a.wav', async: true }),
    ),
    await fixture.transcribe(account, Buffer.from('RIFF\0\0\0\0WAVEfmt nothing'), wish),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 202, 202, 422],
  );
  const rows = await webhooksOf(account);
  assert.equal(rows.length, 3);
  for (const [index, { id, secret }] of rows.entries()) {
    const { json } = answers[index]!;
    assert.equal(FETCH_SECRET_BOX.open(id, secret), json.webhook_secret);
    assert.equal((await fixture.job(account, json.id)).webhook_secret, undefined);
  }
});

test('a request that is repeated because its answer was lost shows the secret of the job that it made', async () => {
  const account = await fixture.account();
  let job: string | null = null;
  const idempotency = (id: string | null) =>
    ({
      hasKey: true,
      identify: () => (id === null ? { kind: 'new' } : { kind: 'resume', jobId: id }),
      bindJob: async (_tx: unknown, bound: string) => void (job = bound),
      saveAnswer: async (_tx: unknown, answer: unknown) => answer,
    }) as never;
  const wish = { webhook_url: URL_GIVEN, async: 'true' };

  const first = await fixture.transcribe(account, wavFile(1), wish, undefined, idempotency(null));
  const again = await fixture.transcribe(account, wavFile(1), wish, undefined, idempotency(job));

  assert.deepEqual([again.json.id, again.json.webhook_secret], [first.json.id, first.json.webhook_secret]);
  assert.match(first.json.webhook_secret, /^whsec_/);
  assert.equal((await webhooksOf(account)).length, 1);
});

test('a url that a webhook may not have is refused, and so is a secret that receivers could not use', async () => {
  const account = await fixture.account();
  const refused: [fields: Record<string, string>, type: string, param: string][] = [
    ...FORBIDDEN_URLS.slice(0, 40).map(
      (url) =>
        [{ ...OWN, webhook_url: url }, 'forbidden_url', 'webhook_url'] as [Record<string, string>, string, string],
    ),
    [{ webhook_secret: SECRET }, 'invalid_request', 'webhook_secret'],
    [{ ...OWN, webhook_secret: 'secret' }, 'invalid_request', 'webhook_secret'],
    [{ ...OWN, webhook_secret: 'whsec_YWJj' }, 'invalid_request', 'webhook_secret'],
    [{ ...OWN, webhook_secret: `whsec_${'QUJD'.repeat(100)}` }, 'invalid_request', 'webhook_secret'],
    [{ webhook_url: URL_GIVEN, response_format: 'srt' }, 'invalid_request', 'webhook_secret'],
  ];

  for (const [fields, type, param] of refused) {
    const { status, json } = await fixture.transcribe(account, wavFile(1), fields);
    assert.deepEqual([status, json.error.type, json.error.param], [400, type, param], JSON.stringify(fields));
  }
  assert.deepEqual([await webhooksOf(account), (await fixture.get(account, '/v1/jobs')).json.data], [[], []]);
});

test('who names a webhook_url of the own machine is told the command that brings events there', async () => {
  const account = await fixture.account();

  const { json } = await fixture.transcribe(account, wavFile(1), { ...OWN, webhook_url: 'http://[::1]:3000/hooks' });

  assert.match(json.error.message, / verbatim listen --forward-to \[::1\]:3000$/);
});

test('JOB_WEBHOOKS says which accounts may', async () => {
  const expected = { pro: { lite: 403, pro: 200 }, all: { lite: 200, pro: 200 }, off: { lite: 400, pro: 400 } };
  for (const setting of ['pro', 'all', 'off'] as const) {
    await using environment = await openJobFixture({ JOB_WEBHOOKS: setting });
    await environment.startWorker(openFakeEngine({ says: 'hello' }));
    for (const plan of ['lite', 'pro'] as const) {
      const account = await environment.account({ plan });
      const { status, json } = await environment.transcribe(account, wavFile(1), OWN);
      assert.equal(status, expected[setting][plan], `${setting} ${plan}`);
      if (status === 403) assert.deepEqual([json.error.type, json.error.param], ['plan_limit', 'webhook_url']);
      assert.equal((await webhooksOf(account, environment)).length, status === 200 ? 1 : 0);
    }
  }
});

test("a job's webhook is deleted with the job, by its owner and when its time is over", async () => {
  const account = await fixture.account();
  const erased = (await fixture.transcribe(account, wavFile(1), OWN)).json.id as string;
  const old = (await fixture.transcribe(account, wavFile(1), OWN)).json.id as string;

  assert.equal((await fixture.erase(account, erased)).status, 204);
  const left = await webhooksOf(account);
  await fixture.db.run({
    text: `update jobs set audio_key = null, completed_at = completed_at - interval '2 days' where shard = $1 and id = $2`,
    values: [account.shard, old],
  });
  await deleteOldJobs(fixture.db, { shard: account.shard, keepDays: 1, limit: 10 });

  assert.deepEqual(
    left.map(({ id }) => id),
    [webhookIdOfJob(old)],
  );
  assert.deepEqual(await webhooksOf(account), []);
});
