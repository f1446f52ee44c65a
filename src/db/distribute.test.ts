import assert from 'node:assert/strict';
import test from 'node:test';
import { WITHOUT_CITUS } from '../../test/fixtures/database/citus.ts';
import { openTestDatabase } from '../../test/fixtures/database/test-database.ts';
import type { Database } from './database.ts';
import { checkCluster, DistributionError, distribute } from './distribute.ts';
import { migrate } from './schema/migrate.ts';
import { readMigrations } from './schema/migrations.ts';

const ON_CITUS = { skip: WITHOUT_CITUS };

async function readDistributed(db: Database): Promise<string[]> {
  const rows = await db.rows<{ name: string }>({
    text: `select logicalrelid::text as name from pg_dist_partition where partmethod = 'h' order by 1`,
  });
  return rows.map(({ name }) => name);
}

test('a database without Citus is refused', { skip: !WITHOUT_CITUS }, async () => {
  await using db = await openTestDatabase();

  await assert.rejects(checkCluster(db), DistributionError);
});

test(
  'tables with a shard are distributed, the others are not, and a second run changes nothing',
  ON_CITUS,
  async () => {
    await using db = await openTestDatabase();
    const before = await readDistributed(db);

    const again = await distribute(db, { shardCount: 8 });

    assert.deepEqual(again.added, []);
    assert.ok(['accounts', 'jobs', 'attempts', 'attempts_default'].every((name) => before.includes(name)));
    assert.ok(!['api_keys', 'audit_log', 'schema_versions'].some((name) => before.includes(name)));
    assert.deepEqual(await readDistributed(db), before);
  },
);

test('the tables of a later migration are distributed, and their rows are kept', ON_CITUS, async () => {
  await using db = await openTestDatabase();
  const sql = `
    alter table jobs add column colour text;
    create index jobs_by_colour on jobs (shard, colour);
    create table colours (shard smallint not null, id text not null, primary key (shard, id));
    insert into colours values (7, 'red'), (8, 'blue')`;

  await migrate(db, [...readMigrations(), { version: 9_999, name: '9999_colours.sql', sql }]);

  assert.ok((await readDistributed(db)).includes('colours'));
  assert.deepEqual(await db.rows({ text: 'select id from colours where shard = $1', values: [7] }), [{ id: 'red' }]);
});

test('a table that is distributed otherwise is refused with the statement that undoes it', ON_CITUS, async () => {
  await using db = await openTestDatabase();
  await db.run({ text: `select undistribute_table('webhooks')` });
  await db.run({ text: `select create_distributed_table('webhooks', 'id')` });

  await assert.rejects(distribute(db, { shardCount: 4 }), /webhooks .*undistribute_table\('webhooks'\)/);
});

test('distribution is refused while a node uses the database', ON_CITUS, async () => {
  await using db = await openTestDatabase();
  await db.transaction(async (tx) => {
    await tx.rows({ text: 'select 1' });

    await assert.rejects(checkCluster(db), /Stop all nodes first/);
  });
});
