import assert from 'node:assert/strict';
import test from 'node:test';
import { openEmptyDatabase, type TestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { readCatalogue } from '../../../test/upgrade/catalogue.ts';
import { installSchema, loadVersion, VERSIONS } from '../../../test/upgrade/load.ts';
import { UnusableDatabaseError } from '../unusable-database-error.ts';
import { migrate } from './migrate.ts';

for (const version of VERSIONS) {
  test(`the schema of ${version} becomes that of a new database`, async () => {
    await using earlier = await openEmptyDatabase();
    await using fresh = await openEmptyDatabase();
    await loadVersion(earlier, version, '127.0.0.1:1');

    await migrate(earlier);

    await migrate(fresh);
    assert.deepEqual(await readCatalogue(earlier), await readCatalogue(fresh));
    assert.deepEqual(await versions(earlier), await versions(fresh));
    assert.deepEqual(await migrate(earlier), []);
  });
}

test('the schema of another commit is refused, and not changed', async () => {
  await using db = await openEmptyDatabase();
  await installSchema(db, '143cffd1');
  await db.run({ text: 'alter table jobs add column colour text' });
  const before = await readCatalogue(db);

  await assert.rejects(migrate(db), (error: Error) => {
    assert.ok(error instanceof UnusableDatabaseError);
    assert.match(error.message, /that of a commit before 0\.2\.0 other than 143cffd1\. Start/);
    return true;
  });

  assert.deepEqual(await readCatalogue(db), before);
});

test('a table of another program in the same database does not matter', async () => {
  await using db = await openEmptyDatabase();
  await installSchema(db, '143cffd1');
  await db.run({ text: 'create table spatial_ref_sys (srid integer primary key)' });

  await migrate(db);

  assert.equal((await versions(db)).length > 0, true);
});

async function versions(db: TestDatabase) {
  return await db.rows({ text: 'select version, name, sha256 from schema_versions order by version' });
}
