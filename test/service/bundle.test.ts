import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { prepareBundle } from '../../bin/prepare/bundle.js';
import { childProcesses } from '../fixtures/processes/children.ts';

const run = promisify(execFile);
const BUNDLE_JS = path.join(import.meta.dirname, '../../bin/prepare/bundle.js');
const INSTALLATION = fs.readFileSync(new URL('../../src/platform/installation.ts', import.meta.url), 'utf8');
// Not written out: a structure test looks for every import that it sees.
const [GREET, LAZY, HERE] = ['#sdk/greet', './lazy', '../platform/installation'].map((name) => `'${name}.ts'`);
const MAIN = `import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { greet } from ${GREET};
import { entryPoint, ROOT, VERSION } from ${HERE};
const child: string = fileURLToPath(entryPoint('child'));
const { name } = await import(${LAZY});
console.log(greet(name), readFileSync(ROOT + '/src/words.txt', 'utf8'), VERSION);
console.log(execFileSync(process.execPath, [child], { encoding: 'utf8' }));
`;

/** A small project with the folders of this one, under a name with a space. */
function openProject() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
  const root = path.join(folder, 'a project');
  const write = (name: string, text: string) => {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  };
  write('package.json', JSON.stringify({ version: '1.2.3', type: 'module', imports: { '#sdk/*': './sdk/src/*' } }));
  write('bin/entry-points.json', JSON.stringify({ main: 'src/processes/main.ts', child: 'src/parts/child.ts' }));
  write('src/platform/installation.ts', INSTALLATION);
  write('src/processes/main.ts', MAIN);
  write('src/processes/lazy.ts', "export const name: string = 'you';");
  write('src/parts/child.ts', `import { greet } from ${GREET}; process.stdout.write(greet('child'));`);
  write('src/words.txt', 'from a file');
  write('src/broken.test.ts', 'const = 1');
  write('sdk/src/greet.ts', "export const greet = (name: string): string => 'Hello, ' + name;");
  return {
    folder,
    root,
    write,
    bundles: () => fs.readdirSync(path.join(root, 'node_modules/.cache/verbatim')),
    [Symbol.dispose]: () => fs.rmSync(folder, { recursive: true }),
  };
}

const outputOf = (program: string) => execFileSync(process.execPath, [program], { encoding: 'utf8' });

test('a bundle runs with its child process, its lazy modules and its files, also after the project was moved', () => {
  using project = openProject();
  const output = 'Hello, you from a file 1.2.3\nHello, child\n';

  const bundle = prepareBundle(project.root);

  assert.deepEqual(childProcesses(), []);
  assert.equal(outputOf(path.join(bundle, 'main.js')), output);
  assert.equal(outputOf(path.join(project.root, 'src/processes/main.ts')), output);
  const moved = path.join(project.folder, 'moved');
  fs.renameSync(project.root, moved);
  assert.equal(outputOf(path.join(moved, path.relative(project.root, bundle), 'main.js')), output);
  fs.renameSync(moved, project.root);
});

test('a bundle is made once for the same sources, and anew when one of them changes', async () => {
  using project = openProject();
  const program = `process.stdout.write(require(${JSON.stringify(BUNDLE_JS)}).prepareBundle(${JSON.stringify(project.root)}))`;
  const inProcess = async () => (await run(process.execPath, ['-e', program])).stdout;

  const atOnce = await Promise.all([inProcess(), inProcess()]);
  project.write('src/broken.test.ts', 'const = 2');
  const again = prepareBundle(project.root);
  const made = project.bundles();
  project.write('sdk/src/greet.ts', "export const greet = (name: string): string => 'Bye, ' + name;");
  const changed = prepareBundle(project.root);

  assert.deepEqual([...atOnce, made], [again, again, [path.basename(again)]]);
  assert.match(outputOf(path.join(changed, 'main.js')), /^Bye, you/);
});

test('the last ten bundles are kept', () => {
  using project = openProject();
  const made = Array.from({ length: 12 }, (_, at) => `service-${at}`);
  for (const [at, name] of made.entries()) {
    project.write(`node_modules/.cache/verbatim/${name}/main.js`, '');
    fs.utimesSync(path.join(project.root, 'node_modules/.cache/verbatim', name), at, at);
  }

  const last = path.basename(prepareBundle(project.root));

  assert.deepEqual(project.bundles().sort(), [...made.slice(-9), last].sort());
});

test('a source that is wrong is named, and nothing is left', () => {
  using project = openProject();
  project.write('src/processes/lazy.ts', 'export const = 1;');

  assert.throws(
    () => prepareBundle(project.root),
    (error: Error) =>
      /could not be bundled: [\s\S]*src\/processes\/lazy\.ts:1/.test(error.message) && !/owner/.test(error.message),
  );

  assert.deepEqual(project.bundles(), []);
});

test('where nothing can be written, the message says who can', () => {
  using project = openProject();
  project.write('node_modules/.cache', 'no folder');

  assert.throws(
    () => prepareBundle(project.root),
    /could not be bundled: ENOTDIR.*\nRun bin\/verbatim prepare once as the owner/,
  );
});
