import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { openDatabase } from '../../src/db/database.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { startPgBouncer, WITHOUT_PGBOUNCER } from '../fixtures/database/pgbouncer.ts';
import { openTestDatabase } from '../fixtures/database/test-database.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, type Receiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

const skip = WITHOUT_PGBOUNCER;
const JOBS = 8;

test('behind a PgBouncer that pools by session, jobs are transcribed and delivered', { skip }, async () => {
  await using db = await openTestDatabase();
  await using bouncer = await startPgBouncer(db.url, 'session');
  await using receiver = await openReceiver();
  await using service = await open(receiver, { DATABASE_URL: bouncer.url });

  await transcribeAndReceive(service, receiver);

  assert.deepEqual(complaintsIn(service.logText()), []);
});

test('behind a PgBouncer that pools by transaction, DATABASE_DIRECT_URL makes the service work', { skip }, async () => {
  await using db = await openTestDatabase();
  await using bouncer = await startPgBouncer(db.url, 'transaction');
  await using receiver = await openReceiver();
  const urls = { DATABASE_URL: bouncer.url, DATABASE_DIRECT_URL: db.url };
  await using service = await open(receiver, urls);

  await transcribeAndReceive(service, receiver);

  assert.deepEqual(complaintsIn(service.logText()), []);
});

const REFUSED: [string, 'transaction' | 'statement', boolean, RegExp][] = [
  ['pools by transaction', 'transaction', false, /pools by transaction.*DATABASE_DIRECT_URL/s],
  ['pools by statement', 'statement', false, /DATABASE_URL cannot be used.*pool_mode/s],
  ['pools by transaction, as DATABASE_DIRECT_URL', 'transaction', true, /DATABASE_DIRECT_URL.*PostgreSQL itself/s],
];
for (const [title, mode, isDirect, expected] of REFUSED) {
  test(`a start behind a PgBouncer that ${title} fails and names the setting to change`, { skip }, async () => {
    await using db = await openTestDatabase();
    await using bouncer = await startPgBouncer(db.url, mode);
    const urls: Record<string, string> = isDirect
      ? { DATABASE_URL: db.url, DATABASE_DIRECT_URL: bouncer.url }
      : { DATABASE_URL: bouncer.url };

    await assert.rejects(openService(urls), expected);
  });
}

test('settings that name different databases end the start', { skip }, async () => {
  await using db = await openTestDatabase();
  await using other = await openTestDatabase();
  await using bouncer = await startPgBouncer(db.url, 'transaction');
  const urls = { DATABASE_URL: bouncer.url, DATABASE_DIRECT_URL: other.url };

  await assert.rejects(openService(urls), /DATABASE_URL and DATABASE_DIRECT_URL name different databases/);
});

test('a database name or a password that is wrong ends the start', { skip }, async () => {
  await using db = await openTestDatabase();
  await using bouncer = await startPgBouncer(db.url, 'session');
  const [name, password] = [new URL(bouncer.url), new URL(bouncer.url)];
  name.pathname = '/missing';
  password.password = 'wrong';

  await assert.rejects(openService({ DATABASE_URL: name.href }), /DATABASE_URL cannot be used.*missing/s);
  await assert.rejects(openService({ DATABASE_URL: password.href }), /DATABASE_URL cannot be used.*password/s);
});

test('a statement that times out is cancelled on the server, where the pooler allows no timeout', {
  skip,
}, async () => {
  await using db = await openTestDatabase();
  await using bouncer = await startPgBouncer(db.url, 'transaction');
  const pooled = openDatabase(bouncer.url, { maxConnections: 1, directUrl: db.url });
  const sleepers = () =>
    db.rows({ text: `select 1 from pg_stat_activity where query = 'select pg_sleep(60)' and state = 'active'` });

  const sleeping = pooled.rows({ text: 'select pg_sleep(60)' });
  const refused = assert.rejects(sleeping, /timeout/);
  await until('the statement to run', async () => (await sleepers()).length === 1);

  await refused;

  await until('the statement to end', async () => (await sleepers()).length === 0, 15_000);
  await pooled.close();
});

function open(receiver: Receiver, settings: Record<string, string>): Promise<TestService> {
  const dataDir = temporaryFolder();
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  const engine = `sherpa-onnx:${TONE_MODEL}`;
  return openService(
    {
      ENGINE_LITE: engine,
      ENGINE_PRO: engine,
      RATE_LIMIT_TRANSCRIBE: 'off',
      // All jobs are uploaded at once: the test is not about this limit.
      MAX_UPLOADS_PER_ACCOUNT: String(4 * JOBS),
      WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
      NODE_EXTRA_CA_CERTS: caFile,
      ...settings,
    },
    dataDir,
  );
}

/** A job from upload to delivery: it uses the ledger, the queue, LISTEN, events and signed deliveries. */
async function transcribeAndReceive(service: TestService, receiver: Receiver): Promise<void> {
  const { key } = await service.account({ credits: 10 });
  const headers = { 'x-api-key': key };
  const post = async (route: string, request: RequestInit) => {
    const answer = await fetch(service.baseUrl + route, { method: 'POST', ...request });
    assert.ok(answer.ok, `${route} answered ${answer.status}`);
    return (await answer.json()) as Record<string, string>;
  };
  const { secret } = await post('/v1/webhooks', {
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, events: ['transcription.completed'] }),
  });
  const upload = (index: number) => {
    const form = new FormData();
    form.append('async', 'true');
    form.append('file', new Blob([new Uint8Array(toneWav('by way of a pool'))]), 'tone.wav');
    return post('/v1/transcribe', { headers: { ...headers, 'idempotency-key': `job-${index}` }, body: form });
  };

  const jobs = await Promise.all(Array.from({ length: JOBS }, (_, index) => upload(index)));
  await receiver.waitFor(JOBS);

  const delivered = receiver.requests.map(({ headers, body }) => {
    const event = verifyDelivery({ secret: secret!, headers, body });
    return (event.data as { job: { id: string; text: string } }).job;
  });
  assert.deepEqual(delivered.map(({ id }) => id).sort(), jobs.map(({ id }) => id!).sort());
  assert.deepEqual([...new Set(delivered.map(({ text }) => text))], ['by way of a pool']);
}

/** The lines of the log at warn and error, but for the one that names missing protections of the decoders' sandbox. */
function complaintsIn(logText: string): string[] {
  return logText.split('\n').filter((line) => /"level":"(warn|error)"/.test(line) && !line.includes('"sandbox"'));
}
