import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openTestDatabase } from '../fixtures/database/test-database.ts';
import { openService, type ServiceAccount, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

// Usage, ledger, search, filtered lists and erasure through one running service.
const db = await openTestDatabase();
const receiver = await openReceiver();
const dataDir = temporaryFolder();
const caFile = path.join(dataDir, 'receiver-ca.pem');
writeFileSync(caFile, testAuthority.cert);
const ENV = {
  ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
  ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
  DATABASE_URL: db.url,
  WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
  NODE_EXTRA_CA_CERTS: caFile,
  RATE_LIMIT_TRANSCRIBE: 'off',
  RATE_LIMIT_JOBS: 'off',
};
let service: TestService = await openService(ENV, dataDir);
after(async () => {
  await service[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

async function get(key: string, route: string) {
  const answer = await fetch(service.baseUrl + route, { headers: { 'x-api-key': key } });
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  return { status: answer.status, json: (await answer.json()) as any };
}

async function send({ key }: ServiceAccount, text: string, fields: Record<string, string> = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(toneWav(text))]), 'tone.wav');
  const answer = await fetch(`${service.baseUrl}/v1/transcribe`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  return { status: answer.status, json: (await answer.json()) as any };
}

const asAdmin = async (route: string) => {
  const headers = { authorization: `Bearer ${service.adminToken}` };
  const answer = await fetch(service.baseUrl + route, { headers });
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  return { status: answer.status, json: (await answer.json()) as any };
};

test('jobs are found by words, metadata and name, and are counted as in the ledger, for their account only', async () => {
  const account = await service.account({ credits: 10 });
  const other = await service.account({ credits: 10 });
  const { json: job } = await send(account, 'hello quiet friend', { metadata: '{"order": 42, "new": true}' });
  await send(account, 'go on');
  const q = encodeURIComponent('"quiet friend" -noise');

  const found = (await get(account.key, `/v1/search?q=${q}`)).json.data;
  const listed = (await get(account.key, '/v1/jobs?metadata[order]=42&metadata%5Bnew%5D=true&query=TONE')).json.data;
  const usage = (await get(account.key, '/v1/usage?group_by=key')).json;
  const ledger = (await get(account.key, '/v1/ledger')).json.data;
  const balance = (await get(account.key, '/v1/balance')).json;

  assert.deepEqual(
    found.map(({ job_id, hits }: { job_id: string; hits: { text: string }[] }) => [job_id, hits[0]!.text]),
    [[job.id, 'hello quiet friend']],
  );
  assert.deepEqual(
    listed.map(({ id }: { id: string }) => id),
    [job.id],
  );
  const [row] = usage.data;
  assert.deepEqual([usage.data.length, row.jobs], [1, 2]);
  assert.equal(row.key_id, (await get(account.key, '/v1/keys')).json.data[0].id);
  assert.deepEqual(ledger[0].balance, { amount: balance.amount, held: 0 });
  assert.ok(Math.abs(row.cost + balance.amount - 10) < 1e-5, `${row.cost} + ${balance.amount}`);
  assert.deepEqual((await asAdmin(`/admin/v1/usage?account_id=${account.id}&group_by=key`)).json, usage);
  assert.deepEqual((await asAdmin(`/admin/v1/accounts/${account.id}/ledger`)).json.data, ledger);
  for (const route of [`/v1/search?q=${q}`, '/v1/jobs?metadata[order]=42', '/v1/usage']) {
    assert.deepEqual((await get(other.key, route)).json.data, [], route);
  }
});

const REFUSED: [string, string][] = [
  ['/v1/jobs?metadata[a]=1&metadata[b]=1&metadata[c]=1&metadata[d]=1', 'metadata'],
  ['/v1/jobs?metadata[a]=1&metadata[a]=2', 'metadata.a'],
  ['/v1/jobs?metadata=a', 'metadata'],
  ['/v1/jobs?metadata[]=a', 'metadata[]'],
  ['/v1/jobs?plan[a]=lite', 'plan[a]'],
  ['/v1/jobs?query=', 'query'],
  [`/v1/jobs?query=${'x'.repeat(201)}`, 'query'],
  ['/v1/search', 'q'],
  ['/v1/search?q=', 'q'],
  ['/v1/search?q=-a', 'q'],
  ['/v1/search?q=a%00', 'q'],
  [`/v1/search?q=${'x'.repeat(201)}`, 'q'],
  ['/v1/search?q=a&language=1', 'language'],
  ['/v1/usage?bucket=week', 'bucket'],
  ['/v1/usage?group_by=user', 'group_by'],
  ['/v1/usage?from=now', 'from'],
  ['/v1/usage?from=2020-01-01&to=2026-01-01', 'from'],
  ['/v1/ledger?cursor=x', 'cursor'],
  ['/v1/ledger?limit=101', 'limit'],
];

test('wrong parameters are refused by name', async () => {
  const { key } = await service.account();
  for (const [route, param] of REFUSED) {
    const { status, json } = await get(key, route);
    assert.deepEqual([status, json.error?.param], [400, param], route);
  }
  const unknown = await asAdmin('/admin/v1/usage?account_id=acct_0');
  assert.deepEqual([unknown.status, (await asAdmin('/admin/v1/usage')).status], [404, 400]);
});

test('a job with delete_after_seconds=0 is delivered and answered whole, and erased after a crash', async () => {
  const account = await service.account();
  const webhook = await fetch(`${service.baseUrl}/v1/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, events: ['transcription.completed'] }),
  });
  assert.equal(webhook.status, 201);

  const { status, json: job } = await send(account, 'secret words', { delete_after_seconds: '0' });
  const { json: accepted } = await send(account, 'more secret words', { delete_after_seconds: '0', async: 'true' });
  await receiver.waitFor(2);
  const delivered = receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.job);
  await until(
    'both deliveries to be recorded',
    async () => (await db.rows({ text: 'select 1 from deliveries' })).length === 0,
  );

  assert.deepEqual([status, job.text, job.expires_at], [200, 'secret words', job.completed_at]);
  assert.deepEqual(accepted.options, { delete_after_seconds: 0 });
  assert.deepEqual(delivered.map(({ text, expires_at }) => [text, expires_at !== null]).sort(), [
    ['more secret words', true],
    ['secret words', true],
  ]);
  await service.crash();
  await db.run({
    text: `update jobs set completed_at = completed_at - interval '2 minutes', expires_at = expires_at - interval '2 minutes'
      where expires_at is not null`,
  });
  service = await openService(ENV, dataDir);
  for (const id of [job.id, accepted.id]) {
    await until('the job to be erased', async () => (await get(account.key, `/v1/jobs/${id}`)).status === 404);
  }
  assert.deepEqual((await get(account.key, '/v1/search?q=secret')).json.data, []);
  assert.equal((await get(account.key, '/v1/usage')).json.data[0].jobs, 2);
  const tables = await db.rows<{ name: string }>({
    text: `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  });
  for (const { name } of tables) {
    const text = `select 1 from ${name} as r where r::text ilike '%secret words%' or r::text like $1`;
    assert.deepEqual(await db.rows({ text, values: [`%${Buffer.from('secret words').toString('hex')}%`] }), [], name);
  }
});
