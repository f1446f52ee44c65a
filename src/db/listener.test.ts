import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../test/fixtures/database/test-database.ts';
import { until } from '../../test/fixtures/until.ts';
import type { Sql } from './database.ts';

const POLL = { isPoll: true, text: 'select pg_backend_pid() as pid' } as const;

async function pidOf(sql: Sql, statement: { text: string; isPoll?: boolean } = POLL): Promise<number> {
  const [row] = await sql.rows<{ pid: number }>(statement);
  return row!.pid;
}

/** The connection that listens on the channel, by its process; null while there is none. */
async function listeningPid(sql: Sql, channel: string): Promise<number | null> {
  const rows = await sql.rows<{ pid: number }>({
    text: `select pid from pg_stat_activity where datname = current_database() and query = $1`,
    values: [`listen "${channel}"`],
  });
  return rows[0]?.pid ?? null;
}

test('a poll is executed on the connection that listens, and on another one while a poll waits for that or it is absent', async () => {
  await using db = await openTestDatabase();
  const before = await pidOf(db);
  const stop = await db.listen('numbers', () => undefined);
  const listening = await listeningPid(db, 'numbers');

  const [first, second, third] = await Promise.all([pidOf(db), pidOf(db), pidOf(db)]);
  const fourth = await pidOf(db);
  const inTransaction = await db.transaction((tx) => pidOf(tx));
  await stop();
  const after = await pidOf(db);

  assert.notEqual(listening, null);
  assert.deepEqual([first, second, fourth], [listening, listening, listening]);
  for (const other of [before, third, inTransaction, after]) assert.notEqual(other, listening);
});

test('notifications arrive after a poll, and after a poll that failed', async () => {
  await using db = await openTestDatabase();
  const words: string[] = [];
  const stop = await db.listen('numbers', (word) => void words.push(word));

  const slow = pidOf(db, { isPoll: true, text: 'select pg_backend_pid() as pid from pg_sleep(0.05)' });
  await db.run({ text: `select pg_notify('numbers', 'during')` });
  const listening = await slow;
  await until('the notification', () => words.includes('during'));
  await assert.rejects(db.rows({ isPoll: true, text: 'select 1 / 0' }), { code: '22012' });
  await until('the next connection', async () => words.at(-1) === '' && words.length > 2);
  await db.run({ text: `select pg_notify('numbers', 'later')` });
  await until('the later notification', () => words.includes('later'));
  const next = await pidOf(db);
  await stop();

  assert.deepEqual(words, ['', 'during', '', 'later']);
  assert.notEqual(next, listening);
});

test('the end of the last subscription waits for the poll that runs', async () => {
  await using db = await openTestDatabase();
  const stop = await db.listen('numbers', () => undefined);

  const poll = pidOf(db, { isPoll: true, text: 'select pg_backend_pid() as pid from pg_sleep(0.05)' });
  await stop();

  assert.ok((await poll) > 0);
});

test('subscriptions and polls at the same time are executed one after the other', async () => {
  await using db = await openTestDatabase();
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);
  process.on('warning', onWarning);
  const stops = [await db.listen('first', () => undefined)];

  const poll = pidOf(db);
  stops.push(...(await Promise.all([db.listen('second', () => undefined), db.listen('third', () => undefined)])));
  await poll;
  for (const stop of stops) await stop();
  process.off('warning', onWarning);

  assert.deepEqual(warnings, []);
});

test('a poll that waits for one that fails, fails too, and the next ones are executed', async () => {
  await using db = await openTestDatabase();
  let isListening = 0;
  const stop = await db.listen('numbers', () => void isListening++);

  const polls = await Promise.allSettled([db.rows({ isPoll: true, text: 'select 1 / 0' }), pidOf(db)]);
  await until('the next connection', () => isListening === 2);
  const next = await Promise.all([pidOf(db), pidOf(db)]);
  await stop();

  assert.deepEqual(
    polls.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(next[0], next[1]);
});
