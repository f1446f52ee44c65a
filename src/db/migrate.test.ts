import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../test/database.ts';
import { claimDueDeliveries } from '../webhooks/deliveries/claim-store.ts';
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

test('a migration that was released after one with a higher number runs too', async () => {
  await using db = await openTestDatabase();
  const probe = (version: number) => ({ version, name: `${version}_probe.sql`, sql: 'select 1' });
  await migrate(db, [...readMigrations(), probe(9999)]);

  const ran = await migrate(db, [...readMigrations(), probe(9998), probe(9999)]);

  assert.deepEqual(ran, ['9998_probe.sql']);
});

test('a migration takes the time that it needs, and a node that waits for it does not give up', async () => {
  await using db = await openTestDatabase();
  // More than twice the timeouts of a statement, of the client as well as of the server: here waiting is the point.
  const slow = { version: 9999, name: '9999_slow.sql', sql: 'select pg_sleep(10)' };
  const migrations = [...readMigrations(), slow];

  const ran = await Promise.all([migrate(db, migrations), migrate(db, migrations)]);

  assert.deepEqual(ran.flat(), ['9999_slow.sql']);
});

test('what was being sent when leases became rows of their own is sent again once its lease is over', async () => {
  await using db = await openTestDatabase();
  await db.run({ text: 'drop schema public cascade' });
  await db.run({ text: 'create schema public' });
  await migrate(
    db,
    readMigrations().filter(({ version }) => version < 6),
  );
  await db.run({
    text: `insert into webhooks (shard, id, account_id, url, events, secret, created_at, updated_at)
      values (7, 'wh_1', 'acct_1', 'https://a.example/', '{}', '', now(), now())`,
  });
  await db.run({
    text: `insert into events (shard, id, account_id, type, body, created_at) values (7, 'evt_1', 'acct_1', 'x', '', now())`,
  });
  await db.run({
    text: `insert into deliveries
        (shard, id, account_id, webhook_id, event_id, event_type, state, attempt, attempt_id, lease, next_at, created_at)
      values (7, 'dl_1', 'acct_1', 'wh_1', 'evt_1', 'x', 'sending', 2, 'dlv_1', 5, now() + interval '1 minute', now())`,
  });

  const ran = await migrate(db);
  const claim = (now: Date) => claimDueDeliveries(db, { shard: 7, limit: 1, leaseMs: 20_000, now });
  const early = await claim(new Date());
  const [late] = await claim(new Date(Date.now() + 61_000));

  assert.equal(ran[0], '0006_leases.sql');
  assert.deepEqual([early.length, late?.id, late?.attempt], [0, 'dl_1', 2]);
  assert.notEqual(late?.attemptId, 'dlv_1');
});
