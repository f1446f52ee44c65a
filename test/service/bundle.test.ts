import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { childProcesses } from '../fixtures/processes/children.ts';

const { prepareBundle } = createRequire(import.meta.url)('../../bin/prepare/bundle.js') as {
  prepareBundle(root: string): Promise<string>;
};

// Not written out: a structure test looks for every import that it sees.
const [GREET, LAZY] = ['#sdk/greet', './lazy'].map((name) => `'${name}.ts'`);
const MAIN = `import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { greet } from ${GREET};
const child = new URL('../parts/child.ts', import.meta.url);
const place: URL = new URL('../words.txt', import.meta.url);
const { name } = await import(${LAZY});
console.log(greet(name), readFileSync(place, 'utf8'), execFileSync(process.execPath, [fileURLToPath(child)], { encoding: 'utf8' }));
`;

/** A small project with the folders of this one, under a name with a space. */
function openProject() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
  const root = path.join(folder, 'a project');
  const write = (name: string, text: string) => {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  };
  write('package.json', JSON.stringify({ type: 'module', imports: { '#sdk/*': './sdk/src/*' } }));
  write('src/processes/main.ts', MAIN);
  write('src/processes/lazy.ts', "export const name: string = 'you';");
  write('src/parts/child.ts', `import { greet } from ${GREET}; process.stdout.write(greet('child'));`);
  write('src/words.txt', 'from a file');
  write('src/broken.test.ts', 'const = 1');
  write('sdk/src/greet.ts', "export const greet = (name: string): string => 'Hello, ' + name;");
  return {
    ...{ folder, root, write },
    bundles: () => fs.readdirSync(path.join(root, 'node_modules/.cache/verbatim')),
    [Symbol.dispose]: () => fs.rmSync(folder, { recursive: true }),
  };
}

const outputOf = (root: string, program: string) =>
  execFileSync(process.execPath, [path.join(root, program)], { encoding: 'utf8' });

test('a bundle runs with its child process, its lazy modules and its files, also after the project was moved', async () => {
  using project = openProject();

  const program = await prepareBundle(project.root);

  assert.deepEqual(childProcesses(), []);
  assert.equal(outputOf(project.root, program), 'Hello, you from a file Hello, child\n');
  const moved = path.join(project.folder, 'moved');
  fs.renameSync(project.root, moved);
  assert.equal(outputOf(moved, program), 'Hello, you from a file Hello, child\n');
  fs.renameSync(moved, project.root);
});

test('a bundle is made once for the same sources, and anew when one of them changes', async () => {
  using project = openProject();

  const atOnce = await Promise.all([prepareBundle(project.root), prepareBundle(project.root)]);
  project.write('src/broken.test.ts', 'const = 2');
  const again = await prepareBundle(project.root);
  const made = project.bundles();
  project.write('sdk/src/greet.ts', "export const greet = (name: string): string => 'Bye, ' + name;");
  const changed = await prepareBundle(project.root);

  assert.deepEqual([...atOnce, made.length], [again, again, 1]);
  assert.equal(outputOf(project.root, changed), 'Bye, you from a file Bye, child\n');
});

test('the last ten bundles are kept', async () => {
  using project = openProject();
  const made = Array.from({ length: 12 }, (_, at) => `service-${at}`);
  for (const [at, name] of made.entries()) {
    project.write(`node_modules/.cache/verbatim/${name}/main.js`, '');
    fs.utimesSync(path.join(project.root, 'node_modules/.cache/verbatim', name), at, at);
  }

  const last = path.basename(path.dirname(await prepareBundle(project.root)));

  assert.deepEqual(project.bundles().sort(), [...made.slice(-9), last].sort());
});

test('a source that is wrong, or asks for its place in a way that a bundle does not know, is named', async () => {
  using project = openProject();

  project.write('src/processes/lazy.ts', 'export const name = import.meta.dirname;');
  await assert.rejects(prepareBundle(project.root), /src\/processes\/lazy\.ts: import\.meta\.dirname is not known/);
  project.write('src/processes/lazy.ts', 'export const = 1;');
  await assert.rejects(prepareBundle(project.root), /src\/processes\/lazy\.ts/);

  assert.deepEqual(project.bundles(), []);
});
