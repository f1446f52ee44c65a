import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { postgresEnvironment } from './libraries.ts';

const NOBODY = 65_534;
const isLinux = process.platform === 'linux';

/** A package with a library that has two names, and a folder for a database. */
function openPackage() {
  // Not in the folder of this run, which other users cannot enter.
  const folder = fs.mkdtempSync('/tmp/verbatim-test-');
  fs.chmodSync(folder, 0o755);
  const [files, dir] = [path.join(folder, 'package'), path.join(folder, 'database')];
  const lib = path.join(files, 'native/lib');
  fs.mkdirSync(lib, { recursive: true });
  fs.mkdirSync(dir, { mode: 0o777 });
  fs.chmodSync(dir, 0o777);
  const links = ['libpq.so', 'libpq.so.5'].map((name) => ({
    source: 'native/lib/libpq.so.5.18',
    target: `native/lib/${name}`,
  }));
  fs.writeFileSync(path.join(files, 'native/pg-symlinks.json'), JSON.stringify(links));
  fs.writeFileSync(path.join(lib, 'libpq.so.5.18'), 'the library');
  return { files, dir, lib, [Symbol.dispose]: () => fs.rmSync(folder, { recursive: true }) };
}

/** As a user who must not write to a folder of mode 0555; root may write everywhere. */
function withoutRights<T>(act: () => T): T {
  if (process.getuid!() !== 0) return act();
  process.seteuid!(NOBODY);
  try {
    return act();
  } finally {
    process.seteuid!(0);
  }
}

test('the names of the libraries are created in the package', () => {
  using place = openPackage();

  const first = postgresEnvironment(place.dir, place.files);
  const second = postgresEnvironment(place.dir, place.files);

  assert.deepEqual([first['LD_LIBRARY_PATH'], second['LD_LIBRARY_PATH']], [undefined, undefined]);
  assert.equal(fs.readFileSync(path.join(place.lib, 'libpq.so.5'), 'utf8'), 'the library');
  assert.deepEqual(fs.readdirSync(place.lib).sort(), ['libpq.so', 'libpq.so.5', 'libpq.so.5.18']);
  assert.deepEqual(fs.readdirSync(place.dir), []);
});

test('where the package cannot be written to, they are in the folder of the database', { skip: !isLinux }, () => {
  using place = openPackage();
  fs.chmodSync(place.lib, 0o555);

  const { LD_LIBRARY_PATH } = withoutRights(() => postgresEnvironment(place.dir, place.files));

  assert.equal(LD_LIBRARY_PATH, path.join(place.dir, 'lib'));
  assert.equal(fs.readFileSync(path.join(LD_LIBRARY_PATH, 'libpq.so.5'), 'utf8'), 'the library');
  assert.deepEqual(fs.readdirSync(LD_LIBRARY_PATH).sort(), ['libpq.so', 'libpq.so.5']);
  assert.deepEqual(fs.readdirSync(place.lib), ['libpq.so.5.18']);
});

test('they follow a package that has moved', { skip: !isLinux }, () => {
  using place = openPackage();
  fs.chmodSync(place.lib, 0o555);
  withoutRights(() => postgresEnvironment(place.dir, place.files));
  const moved = `${place.files}-moved`;
  fs.renameSync(place.files, moved);

  withoutRights(() => postgresEnvironment(place.dir, moved));

  assert.equal(fs.readFileSync(path.join(place.dir, 'lib/libpq.so'), 'utf8'), 'the library');
});
