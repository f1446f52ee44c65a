import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { postgresEnvironment } from './libraries.ts';

const skip = process.platform === 'darwin' ? 'macOS has the links in the package' : false;

/** A package with a library that has two names, and a folder for a database. */
function openPackage() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
  const [files, dir] = [path.join(folder, 'package'), path.join(folder, 'database')];
  const lib = path.join(files, 'native/lib');
  fs.mkdirSync(lib, { recursive: true });
  fs.mkdirSync(dir);
  const links = ['libpq.so', 'libpq.so.5'].map((name) => ({
    source: 'native/lib/libpq.so.5.18',
    target: `native/lib/${name}`,
  }));
  fs.writeFileSync(path.join(files, 'native/pg-symlinks.json'), JSON.stringify(links));
  fs.writeFileSync(path.join(lib, 'libpq.so.5.18'), 'the library');
  return { files, dir, lib, [Symbol.dispose]: () => fs.rmSync(folder, { recursive: true }) };
}

test('the other names of the libraries are created in the folder of the database, not in the package', { skip }, () => {
  using place = openPackage();

  const environment = postgresEnvironment(place.dir, place.files);

  const links = path.join(place.dir, 'lib');
  assert.deepEqual(environment['LD_LIBRARY_PATH']!.split(':'), [links, place.lib]);
  assert.deepEqual(postgresEnvironment(place.dir, place.files), environment);
  assert.equal(fs.readFileSync(path.join(links, 'libpq.so.5'), 'utf8'), 'the library');
  assert.deepEqual(fs.readdirSync(links).sort(), ['libpq.so', 'libpq.so.5']);
  assert.deepEqual(fs.readdirSync(place.lib), ['libpq.so.5.18']);
});

test('they follow a package that has moved', { skip }, () => {
  using place = openPackage();
  postgresEnvironment(place.dir, place.files);
  const moved = `${place.files}-moved`;
  fs.renameSync(place.files, moved);

  postgresEnvironment(place.dir, moved);

  assert.equal(fs.readFileSync(path.join(place.dir, 'lib/libpq.so'), 'utf8'), 'the library');
});
