import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../test/fixtures/database/test-database.ts';
import { until } from '../../test/fixtures/until.ts';
import { isDatabaseAway, openDatabase, type Sql } from './database.ts';

const PID = { name: 'pid', isBrief: true, text: 'select pg_backend_pid() as pid, $1::int as number' } as const;

async function pids(sql: Sql, count: number): Promise<number[]> {
  const asked = Array.from({ length: count }, (_, i) =>
    sql.rows<{ pid: number; number: number }>({ ...PID, values: [i] }),
  );
  const rows = (await Promise.all(asked)).map(([row]) => row!);
  assert.deepEqual(
    rows.map(({ number }) => number),
    rows.map((_, i) => i),
  );
  return rows.map(({ pid }) => pid);
}

test('brief statements of many callers share two connections, and each gets its own rows', async () => {
  await using db = await openTestDatabase();

  const brief = new Set(await pids(db, 100));
  const inTransaction = await db.transaction((tx) => pids(tx, 1));

  assert.equal(brief.size, 2);
  assert.ok(!brief.has(inTransaction[0]!));
});

test('a brief statement that fails leaves the others unharmed, and is rolled back alone', async () => {
  await using db = await openTestDatabase();
  await db.run({ text: 'create table numbers (number int primary key)' });
  const insert = (number: number) =>
    db.run({ name: 'insert', isBrief: true, text: 'insert into numbers values ($1)', values: [number] });

  const results = await Promise.allSettled([1, 2, 2, 3, 3, 4].map(insert));

  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 4);
  const rows = await db.rows<{ number: number }>({ text: 'select number from numbers order by number' });
  assert.deepEqual(
    rows.map(({ number }) => number),
    [1, 2, 3, 4],
  );
});

test('a shared connection that the server ends is replaced', async () => {
  await using db = await openTestDatabase();
  const before = new Set(await pids(db, 10));

  await db.rows({
    text: 'select pg_terminate_backend(pid, 5000) from unnest($1::int[]) as pid',
    values: [[...before]],
  });
  const after = await until('new connections', () => pids(db, 10).catch(() => null));

  assert.ok(after.every((pid) => !before.has(pid)));
});

test('an idle shared connection is closed, and close waits for the statements under way', async () => {
  await using db = await openTestDatabase();
  const other = openDatabase(db.url, { maxConnections: 6, idleTimeoutMs: 20 });
  const opened = await pids(other, 10);
  const count = async () => {
    const text = 'select 1 from pg_stat_activity where pid = any($1)';
    return (await db.rows({ text, values: [opened] })).length;
  };

  await until('the idle connections to be closed', async () => (await count()) === 0);
  const last = pids(other, 10);
  await other.close();

  assert.equal((await last).length, 10);
});

test('with few connections all of them are for transactions', async () => {
  await using db = await openTestDatabase();
  const few = openDatabase(db.url, { maxConnections: 5 });

  const used = new Set(await pids(few, 100));
  await few.close();

  assert.ok(used.size > 2, `${used.size} connections`);
});

test('statements on shared connections that freeze fail as statements of a lost connection', async () => {
  await using database = await openTestDatabase();
  // With the timeouts of the service.
  const db = openDatabase(database.url, { maxConnections: 10 });
  const frozen = await pids(db, 10);
  const failures: unknown[] = [];
  let isOver = false;

  for (const pid of new Set(frozen)) process.kill(pid, 'SIGSTOP');
  const first = pids(db, 2);
  const callers = Array.from({ length: 8 }, async () => {
    while (!isOver) await pids(db, 1).catch((error) => failures.push(error));
  });
  await assert.rejects(first, isDatabaseAway);
  await until('new connections', () => pids(db, 1).catch(() => null));
  isOver = true;
  for (const pid of new Set(frozen)) process.kill(pid, 'SIGCONT');
  await Promise.all(callers);
  await db.close();

  assert.ok(failures.length > 0);
  assert.deepEqual(failures.filter((error) => !isDatabaseAway(error)).map(String), []);
});
