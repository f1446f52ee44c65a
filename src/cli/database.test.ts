import assert from 'node:assert/strict';
import test from 'node:test';
import { WITHOUT_CITUS } from '../../test/fixtures/database/citus.ts';
import { openTestDatabase } from '../../test/fixtures/database/test-database.ts';
import { runDatabaseCommand } from './database.ts';

test('a database without Citus is refused with what to do', { skip: !WITHOUT_CITUS }, async () => {
  await using db = await openTestDatabase();

  await assert.rejects(
    runDatabaseCommand(['distribute'], { DATABASE_URL: db.url }),
    /no Citus.*create extension citus/,
  );
});

for (const [args, env, message] of [
  ['distribute', {}, /Set DATABASE_URL/],
  ['distribute', { DATABASE_URL: 'mysql://a' }, /DATABASE_URL must/],
  ['distribute --shard-count 65', { DATABASE_URL: 'postgres://a/b' }, /--shard-count must/],
  ['distribute --shard-count x', { DATABASE_URL: 'postgres://a/b' }, /--shard-count must/],
  ['distribute --colour red', {}, /colour/],
  ['fly', {}, /There is no command "database fly"/],
] as const) {
  test(`"database ${args}" with ${JSON.stringify(env)} is refused with what is wrong`, async () => {
    await assert.rejects(runDatabaseCommand(args.split(' '), env), message);
  });
}

test('without words, the usage is printed', async () => {
  assert.match(await runDatabaseCommand([], {}), /^usage: verbatim database distribute/);
});
