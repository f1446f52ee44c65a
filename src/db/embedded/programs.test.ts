import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { findPrograms } from './programs.ts';
import { startEmbedded } from './server.ts';

const NONE = { folders: [] };
const ofPackage = findPrograms(NONE);

/** A folder with programs that say that they are of this version of PostgreSQL. */
function openFolder(version: string) {
  const bin = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
  const script = `#!/bin/sh\necho 'postgres (PostgreSQL) ${version} (Debian ${version}-1.pgdg13+1)'\n`;
  for (const name of ['postgres', 'initdb']) fs.writeFileSync(path.join(bin, name), script, { mode: 0o755 });
  return { bin, [Symbol.dispose]: () => fs.rmSync(bin, { recursive: true }) };
}

test('a PostgreSQL 18 of the machine is taken when its minor is newer, or the same', () => {
  using newer = openFolder('18.99');
  using same = openFolder(ofPackage.version);

  const expected = { bin: newer.bin, version: '18.99', packageFolder: null };
  assert.deepEqual(findPrograms({ folders: [same.bin, newer.bin] }), expected);
  assert.equal(findPrograms({ folders: [same.bin] }).bin, same.bin);
});

test('of the machine, an older minor and other majors are not taken', () => {
  using older = openFolder('18.0');
  using before = openFolder('17.99');
  using after = openFolder('19.1');

  const found = findPrograms({ folders: [older.bin, before.bin, after.bin, '/nowhere'] });

  assert.deepEqual(found, ofPackage);
  assert.match(found.version, /^18\.\d+$/);
});

test('POSTGRES_BIN is taken as it is, and refused when it has no PostgreSQL 18', () => {
  using older = openFolder('18.0');
  using before = openFolder('17.5');

  assert.equal(findPrograms({ bin: older.bin }).version, '18.0');
  assert.throws(() => findPrograms({ bin: before.bin }), {
    message: `POSTGRES_BIN: ${before.bin} has PostgreSQL 17.5; the embedded database needs PostgreSQL 18.`,
  });
  assert.throws(() => findPrograms({ bin: '/nowhere' }), /\/nowhere has no programs postgres and initdb;/);
});

test('a data folder is kept when the next start takes the programs of the machine', async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
  const dir = path.join(home, 'database');
  const log = { debug() {}, warn() {} };
  const query = async (url: string, text: string) => {
    const client = new pg.Client(url);
    await client.connect();
    const { rows } = await client.query(text).finally(() => client.end());
    return rows;
  };

  const first = await startEmbedded({ dir, log });
  await query(first.url, 'create table kept as select 1 as n');
  await first.stop();
  // The same programs, as if a package of the machine had them: they find their libraries.
  using machine = openFolder('');
  const run = (name: string) => `#!/bin/sh\nLD_LIBRARY_PATH=${dir}/lib exec ${ofPackage.bin}/${name} "$@"\n`;
  for (const name of ['postgres', 'initdb']) fs.writeFileSync(path.join(machine.bin, name), run(name));
  // PostgreSQL's user is another one where the tests run as root.
  fs.chmodSync(machine.bin, 0o755);
  const second = await startEmbedded({ dir, log, postgresBin: machine.bin });

  assert.deepEqual(await query(second.url, 'select n from kept'), [{ n: 1 }]);
  assert.deepEqual([second.programs.bin, second.programs.packageFolder], [machine.bin, null]);
  await second.stop();
  fs.rmSync(home, { recursive: true });
});
