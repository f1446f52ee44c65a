import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';

const require = createRequire(import.meta.url);
const { isInstalled } = require('../../bin/prepare/installed.js');
const { unpackTools } = require('../../bin/prepare/unpack-tools.js');
const { wantedTools } = require('../../bin/prepare/wanted-tools.js');
const ROOT = path.resolve(import.meta.dirname, '../..');
const COMMAND = path.join(ROOT, 'bin', 'verbatim');
const RUN = path.join(ROOT, 'bin', 'run.js');

describe('the verbatim command', () => {
  test('lists its commands', () => {
    const { status, stdout } = spawnSync(process.execPath, [COMMAND, 'help'], { encoding: 'utf8' });

    assert.equal(status, 0);
    for (const name of ['serve', 'demo', 'test', 'check', 'bench', 'accounts', 'keys', 'models', 'transcribe']) {
      assert.match(stdout, new RegExp(`^  ${name} `, 'm'));
    }
  });

  test('names a command that there is not, and fails', () => {
    const { status, stderr } = spawnSync(process.execPath, [COMMAND, 'toString'], { encoding: 'utf8' });

    assert.equal(status, 2);
    assert.equal(stderr, "error: unknown command 'toString'\n");
  });

  test('the demo refuses a PORT that is in use or is no port, before it makes anything', async () => {
    const taken = net.createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    await using folder = openFolder({});
    const dataDir = path.join(folder.path, 'data-demo');
    const demo = (port: string) =>
      spawnSync(process.execPath, [path.join(ROOT, 'src/demo/main.ts')], {
        encoding: 'utf8',
        env: { ...process.env, PORT: port, DEMO_DATA_DIR: dataDir },
      });
    const { port } = taken.address() as net.AddressInfo;

    // The server's process answers nobody while the program runs: to be in use, a port needs a listener only.
    const [used, wrong] = [demo(String(port)), demo('80x')];
    taken.close();

    assert.deepEqual([used.status, wrong.status, fs.existsSync(dataDir)], [1, 1, false]);
    assert.match(used.stderr, new RegExp(`^Port ${port} is in use\\. Set PORT to another one`));
    assert.match(wrong.stderr, /^PORT must be a whole number from 1 to 65535, not "80x"/);
  });

  test('ends with the exit code of the first program that failed, after running all', async () => {
    await using folder = openFolder({
      'good.js': 'console.log("good")',
      'bad.js': 'process.exitCode = Number(process.argv[2])',
    });

    const { status, stdout } = runPrograms(folder.path, [['bad.js', '3'], ['bad.js', '4'], ['good.js']]);

    assert.equal(status, 3);
    assert.equal(stdout, 'good\n');
  });

  test('passes a signal on, lets the program end as it wants to, and runs no further one', async () => {
    await using folder = openFolder({
      'stays.js': 'process.on("SIGTERM", () => process.exit(7)); setInterval(() => {}, 1e6); console.log("ready")',
      'never.js': 'console.log("never")',
    });
    const child = spawn(process.execPath, ['-e', script(folder.path, [['stays.js'], ['never.js']])], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    await once(child.stdout, 'data');

    child.kill('SIGTERM');

    assert.deepEqual(await once(child, 'close'), [7, null]);
    assert.equal(output, 'ready\n');
  });

  test('a program that died of a signal counts as failed', async () => {
    await using folder = openFolder({ 'dies.js': 'process.kill(process.pid, "SIGKILL")', 'never.js': '' });

    const { status } = runPrograms(folder.path, [['dies.js'], ['never.js']]);

    assert.equal(status, 128 + os.constants.signals.SIGKILL);
  });

  test('gives its place to the last program, with its arguments and environment', async () => {
    await using folder = openFolder({
      'first.js': '',
      'last.js': 'console.log(JSON.stringify([process.pid, process.argv.slice(2), process.env.FROM_TEST]))',
    });

    const { pid, stdout } = runPrograms(folder.path, [['first.js'], ['last.js', 'a b']], { FROM_TEST: 'yes' });

    assert.deepEqual(JSON.parse(stdout), [pid, ['a b'], 'yes']);
  });

  test('is stopped by a signal to the npm that started it, which ends with its exit code', async () => {
    const { scripts } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    await using folder = openFolder({
      'package.json': JSON.stringify({ scripts: { start: scripts.start } }),
      'bin/verbatim':
        'process.on("SIGTERM", () => process.exit(7)); setInterval(() => {}, 1e6); console.log(process.pid)',
    });
    const npm = spawn('npm', ['start', '--silent'], { cwd: folder.path, stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = (await once(npm.stdout, 'data')) as [Buffer];
    try {
      npm.kill('SIGTERM');

      assert.deepEqual(await once(npm, 'exit'), [7, null]);
      assert.throws(() => process.kill(Number(line), 0), { code: 'ESRCH' });
    } finally {
      spawnSync('kill', ['-9', line.toString().trim()]);
    }
  });

  test('is a shell program too, which may be started by a link', async () => {
    await using folder = openFolder({});
    const link = path.join(folder.path, 'verbatim');
    fs.symlinkSync(COMMAND, link);

    const { status, stdout } = spawnSync(link, ['help'], { encoding: 'utf8' });

    assert.equal(status, 0);
    assert.ok(stdout.startsWith(`Usage: ${link} `), stdout.slice(0, 80));
  });
});

describe('the check whether packages are installed', () => {
  const lock = {
    '': { version: '1' },
    'node_modules/a': { version: '1', integrity: 'sha512-a' },
    'node_modules/b': { version: '1', integrity: 'sha512-b', optional: true },
    'node_modules/d': { version: '1', integrity: 'sha512-d', dev: true },
  };
  const { '': _root, ...all } = lock;
  const { 'node_modules/b': _optional, ...without } = all;
  const { 'node_modules/d': _dev, ...production } = all;
  const other = (name: string) => ({ ...all, [`node_modules/${name}`]: { version: '2', integrity: 'sha512-c' } });
  const cases: [string, object | null, { toServe: boolean; toTest: boolean }][] = [
    ['nothing installed', null, { toServe: false, toTest: false }],
    ['all installed', all, { toServe: true, toTest: true }],
    ['an optional package missing', without, { toServe: true, toTest: true }],
    ['the packages for development missing', production, { toServe: true, toTest: false }],
    ['a package missing', {}, { toServe: false, toTest: false }],
    ['a package of another version', other('a'), { toServe: false, toTest: false }],
    ['an optional package of another version', other('b'), { toServe: false, toTest: false }],
    ['a package for development of another version', other('d'), { toServe: true, toTest: false }],
  ];
  for (const [title, installed, expected] of cases) {
    const words = (isDone: boolean) => (isDone ? 'nothing to do' : 'install');
    test(`${title}: ${words(expected.toServe)} to serve, ${words(expected.toTest)} to test`, async () => {
      await using folder = openFolder({
        'package-lock.json': JSON.stringify({ packages: lock }),
        ...(installed ? { 'node_modules/.package-lock.json': JSON.stringify({ packages: installed }) } : {}),
      });

      assert.equal(isInstalled(folder.path, { withDev: false }), expected.toServe);
      assert.equal(isInstalled(folder.path, { withDev: true }), expected.toTest);
    });
  }
});

describe('the tools unpacked for a user without root', () => {
  const DAY_MS = 86_400_000;
  const packages = ['some-tool'];
  const nowMs = Date.UTC(2026, 0, 1);

  /** A cache of its own, and how often the tools were made; each time they hold that number. */
  function openCache() {
    const folder = openFolder({});
    const state = { made: 0, isOffline: false };
    async function make(_packages: string[], making: string) {
      state.made++;
      if (state.isOffline) throw new Error('no mirror');
      fs.mkdirSync(making, { recursive: true });
      fs.writeFileSync(path.join(making, 'number'), String(state.made));
    }
    const unpack = (afterDays: number): Promise<string> =>
      unpackTools(packages, { cache: folder.path, make, nowMs: nowMs + afterDays * DAY_MS });
    const numberIn = (place: string) => fs.readFileSync(path.join(place, 'number'), 'utf8');
    return { ...folder, state, unpack, numberIn };
  }

  test('are made once, and anew when they are older than 30 days, in the same place', async () => {
    await using cache = openCache();

    const first = await cache.unpack(0);
    await cache.unpack(30);
    const before = cache.numberIn(first);
    const later = await cache.unpack(31);

    assert.deepEqual([before, cache.numberIn(later)], ['1', '2']);
    assert.equal(later, first);
    assert.deepEqual(fs.readdirSync(path.dirname(first)), [path.basename(first)]);
  });

  test('stay when they cannot be made anew, which is tried again a day later', async () => {
    await using cache = openCache();
    await cache.unpack(0);
    cache.state.isOffline = true;

    const places = [await cache.unpack(31), await cache.unpack(31.5)];
    const triesInBetween = cache.state.made;
    cache.state.isOffline = false;
    const place = await cache.unpack(32.1);

    assert.equal(triesInBetween, 2);
    assert.deepEqual([...places.map(() => place)], places);
    assert.equal(cache.numberIn(place), '3');
  });
});

test('while another installation holds the lock of dpkg, apt-get waits, and a line says what goes on', async () => {
  await using folder = openFolder({ 'apt-get': '#!/bin/sh\necho "$@" >> "$APT_LOG"\n' });
  fs.chmodSync(path.join(folder.path, 'apt-get'), 0o755);
  const log = path.join(folder.path, 'log');
  // As root, on a machine where no other program is in the usual folders.
  const program = `const fs = require('node:fs');
    fs.existsSync = (file) => String(file).endsWith('/apt-get');
    process.getuid = () => 0;
    require(${JSON.stringify(path.join(ROOT, 'bin/prepare/tools.js'))}).prepareTools(['ffmpeg']);`;
  const env = { ...process.env, PATH: `${folder.path}:/usr/bin:/bin`, APT_LOG: log, VERBATIM_INSTALL: 'on' };

  const { stderr } = spawnSync(process.execPath, ['-e', program], { env, encoding: 'utf8' });

  const [simulated, installed] = fs.readFileSync(log, 'utf8').trim().split('\n');
  assert.match(simulated!, /--simulate/);
  assert.match(installed!, /^-o DPkg::Lock::Timeout=300 install -y .*ffmpeg$/);
  assert.match(stderr, /^verbatim: installing ffmpeg with apt-get …\n/);
});

describe('the tools that a service needs', () => {
  const sandbox = process.platform === 'linux' ? ['bubblewrap'] : [];
  const remote = 'openai:http://localhost:1/v1';
  const cases: [string, Record<string, string>, string[]][] = [
    ['nothing set', {}, ['ffmpeg', ...sandbox]],
    ['both engines remote', { ENGINE_LITE: remote, ENGINE_PRO: remote }, ['ffmpeg', ...sandbox]],
    ['no engine, since the node accepts uploads only', { ROLES: 'api,janitor' }, ['ffmpeg', ...sandbox]],
    ['no role that opens audio', { ROLES: 'deliverer, janitor' }, []],
  ];
  for (const [title, env, expected] of cases) {
    test(`${title}: ${expected.join(' and ') || 'none'}`, () => {
      assert.deepEqual(wantedTools(env), expected);
    });
  }
});

function runPrograms(root: string, programs: string[][], env: Record<string, string> = {}) {
  const options = { encoding: 'utf8', env: { ...process.env, ...env } } as const;
  return spawnSync(process.execPath, ['-e', script(root, programs)], options);
}

function script(root: string, programs: string[][]): string {
  const options = `{ root: ${JSON.stringify(root)}, env: process.env }`;
  return `require(${JSON.stringify(RUN)}).runAll(process.execPath, ${JSON.stringify(programs)}, ${options})
    .then((code) => { process.exitCode = code; })`;
}

/** A folder with these files, removed when disposed. */
function openFolder(files: Record<string, string>) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), content);
  }
  return {
    path: folder,
    async [Symbol.asyncDispose]() {
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

test('every program that a command runs is there', () => {
  const text = fs.readFileSync(path.join(ROOT, 'bin/main.js'), 'utf8');
  const programs = [...text.matchAll(/'((?:src|test)\/[\w/.-]+\.ts)'/g)].map(([, file]) => file!);

  assert.ok(programs.length >= 3);
  assert.deepEqual(
    programs.filter((file) => !fs.existsSync(path.join(ROOT, file))),
    [],
  );
});
