import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { until } from '../../../test/fixtures/until.ts';
import { migrate, NewerSchemaError, statementsOf } from './migrate.ts';
import { readMigrations } from './migrations.ts';

const NEXT = {
  version: 9999,
  name: '9999_next.sql',
  sql: `alter table accounts add column next text; update accounts set next = upper(name)`,
};

test('a database of an older release gets the missing migrations and keeps its rows', async () => {
  await using db = await openTestDatabase();
  await db.run({
    text: `insert into accounts (shard, id, name, plan, unlimited, created_at)
      values (7, 'acct_1', 'name', 'lite', false, now())`,
  });

  const ran = await migrate(db, [...readMigrations(), NEXT]);

  assert.deepEqual(ran, [NEXT.name]);
  assert.deepEqual(await db.rows({ text: 'select id, next from accounts' }), [{ id: 'acct_1', next: 'NAME' }]);
});

test('a script is split into its statements, whatever its comments and strings contain', () => {
  const body = 'create function f() returns int language sql as $$ select 1; select 2 $$';
  const script = `-- first; it's a comment\nselect ';';\n${body};\n-- last;\n`;

  assert.deepEqual(statementsOf(script), [`-- first; it's a comment\nselect ';'`, body]);
});

test('a second run applies no migration', async () => {
  await using db = await openTestDatabase();

  const ran = await migrate(db);

  assert.deepEqual(ran, []);
});

test('an older release refuses a newer schema and changes nothing', async () => {
  await using db = await openTestDatabase();
  await migrate(db, [...readMigrations(), NEXT]);

  await assert.rejects(migrate(db), NewerSchemaError);

  const names = await db.rows({ text: 'select name from schema_versions order by version' });
  assert.deepEqual(names.at(-1), { name: NEXT.name });
});

test('two nodes that start at once migrate once', async () => {
  await using db = await openTestDatabase();
  const migrations = [...readMigrations(), NEXT];

  const ran = await Promise.all([migrate(db, migrations), migrate(db, migrations)]);

  assert.deepEqual(ran.flat(), [NEXT.name]);
});

test('a migration that was released after one with a higher number runs too', async () => {
  await using db = await openTestDatabase();
  const probe = (version: number) => ({ version, name: `${version}_probe.sql`, sql: 'select 1' });
  await migrate(db, [...readMigrations(), probe(9999)]);

  const ran = await migrate(db, [...readMigrations(), probe(9998), probe(9999)]);

  assert.deepEqual(ran, ['9998_probe.sql']);
});

test('neither a slow migration nor a node that waits for it times out', async () => {
  await using db = await openTestDatabase();
  // One and a half times the statement timeouts of client and server.
  const slow = { version: 9999, name: '9999_slow.sql', sql: 'select pg_sleep(6)' };
  const migrations = [...readMigrations(), slow];

  const ran = await Promise.all([migrate(db, migrations), migrate(db, migrations)]);

  assert.deepEqual(ran.flat(), ['9999_slow.sql']);
});

test('a migration that meets a transaction in the opposite order of locks gives way to it, and then runs', async () => {
  await using db = await openTestDatabase();
  const sql = 'alter table accounts add column newer text; alter table jobs add column newer text';
  let migrating: Promise<string[]> | undefined;

  await db.transaction(async (tx) => {
    await tx.run({ text: 'lock table jobs in row exclusive mode' });
    migrating = migrate(db, [...readMigrations(), { version: 9999, name: '9999_newer.sql', sql }]);
    await until('the migration to wait for jobs', async () => {
      const text = `select 1 from pg_locks where relation = 'jobs'::regclass and not granted`;
      return (await db.rows({ text })).length === 1;
    });
    await tx.run({ text: 'lock table accounts in row exclusive mode' });
  });

  assert.deepEqual(await migrating, ['9999_newer.sql']);
});

test('a database that was migrated with another text of a migration is refused', async () => {
  await using db = await openTestDatabase();
  await migrate(db, [...readMigrations(), NEXT]);

  const changed = { ...NEXT, sql: 'select 2' };

  await assert.rejects(migrate(db, [...readMigrations(), changed]), {
    message:
      'The database was migrated with another 9999_next.sql than this release has. Start the release that migrated it, or restore a backup.',
  });
});
