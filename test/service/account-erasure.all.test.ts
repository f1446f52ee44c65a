import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { ID_NAME } from '../../src/audio/storage/storage.ts';
import { shardOf } from '../../src/rules/shard.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openTestDatabase } from '../fixtures/database/test-database.ts';
import { openService, type ServiceAccount, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const ENGINE = `sherpa-onnx:${TONE_MODEL}`;
// Nothing listens there: deliveries wait for their retries.
const HOOK = 'https://127.0.0.1:9/hook';
const MANY_ATTEMPTS = 60_000;

type Database = Awaited<ReturnType<typeof openTestDatabase>>;

async function send(service: TestService, { key }: ServiceAccount, method: string, route: string, body?: object) {
  const isForm = body instanceof FormData;
  const answer = await fetch(service.baseUrl + route, {
    method,
    headers: {
      'x-api-key': key,
      'idempotency-key': crypto.randomUUID(),
      ...(body && !isForm && { 'content-type': 'application/json' }),
    },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  });
  return answer.status;
}

/** Makes rows of every kind. */
async function fill(service: TestService, account: ServiceAccount): Promise<void> {
  const webhook = { url: HOOK, events: ['transcription.completed'] };
  assert.equal(await send(service, account, 'POST', '/v1/webhooks', webhook), 201);
  for (const fields of [{}, { webhook_url: HOOK, metadata: '{"n":1}' }, { async: 'true', audio_url: HOOK }]) {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    if (!('audio_url' in fields)) form.append('file', new Blob([new Uint8Array(toneWav('hello'))]), 'tone.wav');
    const status = await send(service, account, 'POST', '/v1/transcribe', form);
    assert.ok([200, 202].includes(status), String(status));
  }
  assert.equal(await send(service, account, 'POST', '/v1/keys', { name: 'second' }), 201);
}

/** How many rows each table has of the account, without those that have none. */
async function rowsOf(db: Database, id: string): Promise<Record<string, number>> {
  const tables = await db.rows<{ name: string }>({
    text: `select c.relname as name
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id'
      where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace`,
  });
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await db.rows<{ rows: number }>({
      text: `select count(*) as rows from ${name} where account_id = $1`,
      values: [id],
    });
    if (row!.rows > 0) counts[name] = row!.rows;
  }
  return counts;
}

test('a deleted account is unknown at once, and all that is its is erased, although the service is killed meanwhile', async () => {
  const db = await openTestDatabase();
  const dataDir = temporaryFolder();
  const env = {
    DATABASE_URL: db.url,
    ENGINE_LITE: ENGINE,
    ENGINE_PRO: ENGINE,
    AUDIO_RETENTION_HOURS: '24',
    WEBHOOK_ALLOWED_TARGETS: '127.0.0.1/32:9',
    AUDIO_URL_ALLOWED_TARGETS: '127.0.0.1/32:9',
  };
  let service = await openService(env, dataDir);
  after(async () => {
    await service[Symbol.asyncDispose]();
    await db[Symbol.asyncDispose]();
  });
  const asAdmin = async (method: string, route: string) => {
    const answer = await fetch(service.baseUrl + route, {
      method,
      headers: { authorization: `Bearer ${service.adminToken}` },
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
    return { status: answer.status, json: (await answer.json()) as any };
  };
  const files = async () =>
    (await readdir(path.join(dataDir, 'audio'), { recursive: true, withFileTypes: true })).filter(
      (entry) => entry.isFile() && entry.name !== ID_NAME,
    ).length;
  const account = await service.account({ credits: 10 });
  const other = await service.account({ credits: 10 });
  await fill(service, account);
  await fill(service, other);
  await db.run({
    text: `insert into attempts (shard, id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt, status,
        created_at, completed_at)
      select $1, 'dlv_' || n, $2, 'wh_old', 'evt_' || n, 'transcription.completed', 'dl_' || n, $3, 1, 'failed', now(), now()
      from generate_series(1, $4) as n`,
    values: [shardOf(account.id), account.id, HOOK, MANY_ATTEMPTS],
  });
  const before = await rowsOf(db, account.id);
  for (const table of [
    'jobs',
    'webhooks',
    'events',
    'deliveries',
    'attempts',
    'idempotency_keys',
    'ledger',
    'job_usage',
    'job_metadata',
    'transcript_chunks',
    'audit_log',
    'rate_windows',
    'api_keys',
    'job_queues',
  ]) {
    assert.ok(before[table]! > 0, table);
  }
  assert.equal(await files(), 4);

  const deleted = await asAdmin('DELETE', `/admin/v1/accounts/${account.id}`);

  assert.deepEqual([deleted.status, deleted.json], [202, { id: account.id, status: 'erasing' }]);
  assert.equal(await send(service, account, 'GET', '/v1/jobs'), 401);
  for (const method of ['GET', 'DELETE']) {
    assert.equal((await asAdmin(method, `/admin/v1/accounts/${account.id}`)).status, 404);
  }
  assert.deepEqual(
    (await asAdmin('GET', '/admin/v1/accounts')).json.data.map(({ id }: { id: string }) => id),
    [other.id],
  );

  const cut = await until('a part to be erased', async () => {
    const { attempts = 0 } = await rowsOf(db, account.id);
    return attempts < MANY_ATTEMPTS ? { attempts } : null;
  });
  await service.crash();
  assert.ok(cut.attempts > 0, 'all was erased before the kill');
  assert.ok((await rowsOf(db, account.id))['attempts']! > 0, 'all was erased before the kill');
  service = await openService(env, dataDir);

  const left = await until('the rest to be erased', async () => {
    const { audit_log: changes, ...rest } = await rowsOf(db, account.id);
    return Object.keys(rest).length === 0 ? { changes } : null;
  });
  assert.ok(left.changes! > 0);
  assert.equal(await files(), 2);
  const audit = (await asAdmin('GET', `/admin/v1/audit?account_id=${account.id}`)).json.data;
  assert.deepEqual(
    audit.map(({ action, actor }: { action: string; actor: { type: string } }) => [action, actor.type]),
    [
      ['account.deleted', 'operator'],
      ['key.created', 'operator'],
      ['account.created', 'operator'],
    ],
  );
  const [row] = await db.rows<{ name: string }>({
    text: 'select name from accounts where id = $1',
    values: [account.id],
  });
  assert.equal(row!.name, '');
  assert.equal(await send(service, other, 'GET', '/v1/jobs'), 200);
  const kept = await rowsOf(db, other.id);
  for (const table of ['jobs', 'webhooks', 'events', 'idempotency_keys', 'ledger', 'api_keys'])
    assert.ok(kept[table]! > 0, table);
});
