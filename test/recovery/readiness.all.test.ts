import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { openTestDatabase } from '../fixtures/database/test-database.ts';
import { openService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
type Json = any;

test('a demoted primary and a schema of another release are reasons in words, and requests meanwhile are answered 503', async () => {
  await using db = await openTestDatabase();
  await using service = await openService({ DATABASE_URL: db.url, ROLES: 'api' });
  const { key } = await service.account();
  const admin = new pg.Client({ connectionString: process.env['TEST_DATABASE_URL'] });
  await admin.connect();
  const name = new URL(db.url).pathname.slice(1);
  const readiness = async (): Promise<Json> => await (await fetch(`${service.baseUrl}/readyz`)).json();
  const isReady = () => until('the node to be ready', async () => (await readiness()).status === 'ready');
  const reason = (pattern: RegExp) =>
    until(String(pattern), async () => pattern.test(((await readiness()).reasons ?? []).join()));
  async function setReadOnly(value: 'on' | 'off') {
    await admin.query(`alter database ${name} set default_transaction_read_only = ${value}`);
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  }

  await setReadOnly('on');
  await reason(/^The database takes no writes: it is a standby, or was demoted\./);
  const refused = await fetch(`${service.baseUrl}/v1/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://example.com/hook', events: ['transcription.completed'] }),
  });
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '2']);
  await setReadOnly('off');
  await isReady();

  await db.run({ text: `insert into schema_versions (version, name) values (9999, '9999_later.sql')` });
  await reason(/^The database has schema 9999, which is too new for this release/);
  await db.run({ text: `update schema_versions set release = '0.2.1' where version = 9999` });
  await isReady();
  await db.run({ text: 'delete from schema_versions where version in (1, 9999)' });
  await reason(/^The database lacks migrations of this release \(0001_initial\.sql\)/);
  await admin.end();
});
