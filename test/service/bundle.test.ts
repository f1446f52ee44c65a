import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { on } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { NOT_BUNDLED, prepareBundle, prepareInPlace } from '../../bin/prepare/bundle.js';
import { removeUnused } from '../../bin/prepare/snapshot/unused.js';
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
    bundles: () => fs.globSync(path.join(root, '.snapshots/packages-*/*')).map((folder) => path.basename(folder)),
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

test('a service goes on as it was started while npm and git replace the files of the project', async () => {
  using project = openProject();
  const main = `import { readFileSync } from 'node:fs';
    import { entryPoint, ROOT } from ${HERE};
    process.stdin.once('data', async () => {
      const { name } = await import(${LAZY});
      const { word } = await import('words');
      const { page } = await import('pdfkit');
      console.log(name, word, page, readFileSync(ROOT + '/docs/page.md', 'utf8'), entryPoint('child').href);
    });
    console.log('runs');`;
  project.write('src/processes/main.ts', main);
  project.write('docs/page.md', 'first page');
  const install = (name: string, text: string) => {
    project.write(`node_modules/${name}/package.json`, '{ "type": "module", "exports": "./index.js" }');
    project.write(`node_modules/${name}/index.js`, text);
  };
  install('words', "export const word = 'first word';");
  // Not bundled: it reads files of its own.
  install('pdfkit', "export const page = 'on a page';");
  install('tool', '');
  const packages = { 'node_modules/words': {}, 'node_modules/pdfkit': {}, 'node_modules/tool': { dev: true } };
  project.write('node_modules/.package-lock.json', JSON.stringify({ packages }));
  const bundle = prepareBundle(project.root);
  const service = spawn(process.execPath, [path.join(bundle, 'main.js')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = on(createInterface(service.stdout), 'line');
  await lines.next();

  fs.rmSync(path.join(project.root, 'node_modules'), { recursive: true });
  fs.rmSync(path.join(project.root, 'docs'), { recursive: true });
  project.write('docs/page.md', 'second page');
  install('words', "export const word = 'second word';");
  project.write('src/processes/lazy.ts', "export const name: string = 'they';");
  const next = prepareBundle(project.root);
  service.stdin.end('go on');

  const child = pathToFileURL(path.join(bundle, 'child.js')).href;
  assert.deepEqual((await lines.next()).value, [`you first word on a page first page ${child}`]);
  assert.notEqual(next, bundle);
  assert.ok(!fs.existsSync(path.join(bundle, '../node_modules/tool')));
});

test('the last three snapshots and those that a process runs from are kept, and what was left unfinished is not', () => {
  using project = openProject();
  const folder = path.join(project.root, '.snapshots');
  const inUse = 'packages-aa/service-00';
  const unfinished = ['packages-aa/service-77.123', 'packages-ee.456', 'packages-aa/service-88.removed.7'];
  const made = [inUse, 'packages-bb/service-11', ...['22', '33', '44'].map((name) => `packages-aa/service-${name}`)];
  for (const [at, name] of [...made, ...unfinished].entries()) {
    project.write(`.snapshots/${name}/main.js`, '');
    fs.utimesSync(path.join(folder, name), at, at);
  }
  project.write('.snapshots/packages-cc/service-99.321/main.js', '');
  fs.utimesSync(path.join(folder, 'packages-bb'), 0, 0);

  removeUnused(folder, { running: [`node\0${folder}/${inUse}/main.js\0`, 'packages-bb'] });

  const left = fs.globSync('packages-*/*', { cwd: folder }).sort();
  const kept = [inUse, ...made.slice(2)];
  assert.deepEqual(left, [...kept, 'packages-cc/service-99.321']);
  assert.deepEqual(fs.readdirSync(folder).sort(), ['packages-aa', 'packages-cc']);
});

test('a snapshot that a power failure has cut is made anew', () => {
  using project = openProject();
  const bundle = prepareBundle(project.root);
  fs.truncateSync(path.join(bundle, 'src/words.txt'));

  assert.equal(prepareBundle(project.root), bundle);

  assert.match(outputOf(path.join(bundle, 'main.js')), /from a file/);
});

test('the bundle of an image reads the files of the project, where they are', () => {
  using project = openProject();
  prepareInPlace(project.root);
  project.write('src/words.txt', 'from another file');

  const bundle = prepareBundle(project.root);

  assert.match(outputOf(path.join(bundle, 'main.js')), /^Hello, you from another file/);
  assert.deepEqual(project.bundles(), []);
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
  project.write('.snapshots', 'no folder');

  assert.throws(
    () => prepareBundle(project.root),
    /could not be bundled: ENOTDIR.*\nRun bin\/verbatim prepare once as the owner/,
  );
});

test('a package that is loaded by import() is an ES module, or is not bundled', () => {
  const root = path.join(import.meta.dirname, '../..');
  const files = fs.globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  const loaded = files.flatMap((file) => {
    const text = fs.readFileSync(path.join(root, file), 'utf8');
    return [...text.matchAll(/(?<!typeof )import\('((?:@[^/']+\/)?[^.#/'][^/']*)/g)].map(([, name]) => name!);
  });
  const isModule = (name: string) => {
    const manifest = fs.readFileSync(path.join(root, 'node_modules', name, 'package.json'), 'utf8');
    return (JSON.parse(manifest) as { type?: string }).type === 'module';
  };

  const packages = new Set(loaded.filter((name) => !name.startsWith('node:')));

  assert.ok(packages.has('openid-client') && packages.has('@aws-sdk/client-s3'));
  assert.deepEqual(
    [...packages].filter((name) => !NOT_BUNDLED.includes(name) && !isModule(name)),
    [],
  );
});
