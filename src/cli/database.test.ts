import assert from 'node:assert/strict';
import test from 'node:test';
import { runVerbatim } from '../../test/fixtures/cli.ts';
import { WITHOUT_CITUS } from '../../test/fixtures/database/citus.ts';
import { openTestDatabase } from '../../test/fixtures/database/test-database.ts';

test('a database without Citus is refused with what to do', { skip: !WITHOUT_CITUS }, async () => {
  await using db = await openTestDatabase();

  const { code, stderr } = await runVerbatim('database distribute', { env: { DATABASE_URL: db.url } });

  assert.equal(code, 1);
  assert.match(stderr, /no Citus.*create extension citus/);
});

for (const [args, env, code, message] of [
  ['distribute', {}, 1, /Set DATABASE_URL/],
  ['distribute', { DATABASE_URL: 'mysql://a' }, 1, /DATABASE_URL must/],
  ['distribute --shard-count 65', { DATABASE_URL: 'postgres://a/b' }, 2, /It must be a whole number from 1 to 64/],
  ['distribute --shard-count x', { DATABASE_URL: 'postgres://a/b' }, 2, /It must be a whole number/],
  ['distribute --colour red', {}, 2, /colour/],
  ['fly', {}, 2, /unknown command 'fly'/],
] as const) {
  test(`"database ${args}" with ${JSON.stringify(env)} is refused with what is wrong`, async () => {
    const run = await runVerbatim(`database ${args}`, { env });

    assert.equal(run.code, code);
    assert.match(run.stderr, message);
  });
}
