import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../test/fixtures/database/test-database.ts';
import { checkUrls } from './check-urls.ts';

test('a database whose encoding is not UTF8 is refused, with the statement that creates one', async () => {
  await using db = await openTestDatabase();
  const latin = new URL(db.url);
  const name = `${latin.pathname.slice(1)}_latin`;
  await db.run({ text: `create database ${name} encoding 'LATIN1' locale 'C' template template0` });
  latin.pathname = `/${name}`;

  const checked = checkUrls({ url: latin.href, directUrl: latin.href });

  await assert.rejects(checked, /encoding LATIN1: UTF8 is needed\. Create one: create database/);
  assert.equal(await checkUrls({ url: db.url, directUrl: db.url }), false);
  await db.run({ text: `drop database ${name}` });
});
