import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { openTestDatabase, type TestDatabase } from '../../test/fixtures/database/test-database.ts';
import { until } from '../../test/fixtures/until.ts';
import type { Sql } from '../db/database.ts';
import { readHorizon } from './horizon-store.ts';

/** More than the sockets between a session and its client hold. */
const NOTIFICATIONS = 4_000;
const PAYLOAD_CHARS = 7_900;

/** A session of the service that is in the middle of a notification: its client does not read. */
async function openBusyListener(db: TestDatabase) {
  const client = new pg.Client({ connectionString: db.url, application_name: 'verbatim' });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query('select pg_backend_pid() as pid');
  await client.query('listen heard');
  const listenedAtMs = (await readHorizon(db)).nowMs;
  const { stream } = (client as unknown as { connection: { stream: { pause(): void; destroy(): void } } }).connection;
  stream.pause();
  await db.run({
    text: `select pg_notify('heard', n || repeat('x', $2)) from generate_series(1, $1) as n`,
    values: [NOTIFICATIONS, PAYLOAD_CHARS],
  });
  const find = `select state, xact_start from pg_stat_activity where pid = $1 and xact_start is not null`;
  const [shown] = await until('the session to be within its transaction', async () => {
    const found = await db.rows<{ state: string }>({ text: find, values: [rows[0].pid] });
    return found.length > 0 ? found : null;
  });
  return { listenedAtMs, state: shown!.state, [Symbol.dispose]: () => stream.destroy() };
}

test('a session that handles a notification does not move the horizon back to its LISTEN', async () => {
  await using db = await openTestDatabase();
  using listener = await openBusyListener(db);

  const { startMs } = await readHorizon(db);

  assert.equal(listener.state, 'idle');
  assert.ok(startMs > listener.listenedAtMs, `${listener.listenedAtMs - startMs} ms before the end of its LISTEN`);
});

test('the horizon is the start of the oldest transaction that runs', async () => {
  await using db = await openTestDatabase();
  const [before] = [await readHorizon(db)];

  const [during, later] = await db.transaction(async (tx) => {
    await tx.rows({ text: 'select' });
    return [await readHorizon(db), await readHorizon(db)];
  });
  const after = await readHorizon(db);

  assert.ok(during!.startMs > before.nowMs && during!.startMs < during!.nowMs);
  assert.equal(later!.startMs, during!.startMs);
  assert.equal(after.startMs, after.nowMs);
});

test('a transaction that runs for longer than 50 s is not waited for', async () => {
  const horizonOf = (startMs: number) => {
    const sql = { rows: async () => [{ nowMs: 100_000, startMs }] } as unknown as Sql;
    return readHorizon(sql);
  };

  assert.deepEqual(await horizonOf(0), { nowMs: 100_000, startMs: 50_000 });
  assert.deepEqual(await horizonOf(50_001), { nowMs: 100_000, startMs: 50_001 });
});
