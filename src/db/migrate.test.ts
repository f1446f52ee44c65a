import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../test/database.ts';
import { migrate, NewerSchemaError, readMigrations } from './migrate.ts';

test('a second migration finds nothing to do', async () => {
  await using db = await openTestDatabase();

  const ran = await migrate(db);

  assert.deepEqual(ran, []);
});

test('an older release refuses a newer schema and changes nothing', async () => {
  await using db = await openTestDatabase();
  const older = readMigrations().slice(0, 1);

  await assert.rejects(migrate(db, older), NewerSchemaError);

  const [row] = await db.rows<{ count: number }>({ text: 'select count(*) from schema_versions' });
  assert.equal(row!.count, readMigrations().length);
});

test('two nodes that start at once migrate once', async () => {
  await using db = await openTestDatabase();
  const next = { version: 9999, name: '9999_probe.sql', sql: 'create table probe (id integer)' };
  const migrations = [...readMigrations(), next];

  const ran = await Promise.all([migrate(db, migrations), migrate(db, migrations)]);

  assert.deepEqual(ran.flat(), ['9999_probe.sql']);
});
