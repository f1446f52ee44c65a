import assert from 'node:assert/strict';
import childProcess, { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { describe, test } from 'node:test';
import pg from 'pg';
import { copyNewCluster } from '../../../test/fixtures/database/new-cluster.ts';
import { recordNames } from '../../../test/fixtures/processes/recorded-names.ts';
import { until } from '../../../test/fixtures/until.ts';
import { clearLeftovers } from './leftovers.ts';
import { postgresEnvironment } from './libraries.ts';
import { asPostgresUser, makeFolder } from './place.ts';
import { findPrograms } from './programs.ts';
import { startEmbedded } from './server.ts';

const log = { debug() {}, warn() {} };

describe('the embedded PostgreSQL', () => {
  test('keeps rows over a clean stop and start, in a directory that nobody else may enter', async () => {
    await using fixture = openEnvironment();
    const first = await fixture.start();
    await query(first.url, 'create table kept as select 1 as n');

    await first.stop();
    const again = await fixture.start();

    assert.deepEqual(await query(again.url, 'select n from kept'), [{ n: 1 }]);
    assert.equal(fs.statSync(fixture.dir).mode & 0o777, 0o700);
  });

  test('listens on its Unix socket and on no port', async () => {
    await using fixture = await openMade();
    const server = await fixture.start();

    const [row] = await query(server.url, "select current_setting('listen_addresses') as listen, version()");

    assert.equal(row?.['listen'], '');
    assert.match(String(row?.['version']), /^PostgreSQL 18\./);
  });

  test('gets nothing of the environment of the service, which holds keys', async () => {
    await using fixture = await openMade();

    const { answer } = await fixture.spawnOwner({ ADMIN_TOKEN: 'a-token', AWS_SECRET_ACCESS_KEY: 'a-key' });

    const entries = readOr(`/proc/${answer.pid}/environ`).split('\0');
    const names = entries.map((entry) => entry.split('=')[0]!).filter((name) => name !== '');
    // PostgreSQL adds some of its own, such as PGSYSCONFDIR.
    assert.deepEqual(names.filter((name) => !name.startsWith('PG')).sort(), ['LC_ALL', 'LD_LIBRARY_PATH', 'PATH']);
  });

  test('finds a short place for its socket when the directory has a long name', async () => {
    await using fixture = openEnvironment('long'.repeat(40));

    const server = await fixture.start();

    assert.deepEqual(await query(server.url, 'select 1 as n'), [{ n: 1 }]);
  });

  test('refuses a second process, naming the first and what to do', async () => {
    await using fixture = await openMade();
    const owner = await fixture.spawnOwner();

    const second = await fixture.spawnOwner();

    assert.match(
      String(second.answer.refusal),
      new RegExp(`is in use by process ${owner.child.pid}. Stop that process`),
    );
    assert.deepEqual(await query(owner.answer.url, 'select 1 as n'), [{ n: 1 }]);
  });

  test('refuses a second start in the same process', async () => {
    await using fixture = await openMade();
    await fixture.start();

    await assert.rejects(startEmbedded({ dir: fixture.dir, log }), { name: 'DirectoryTakenError' });
  });

  test('goes down with a service that was killed, and starts again with its rows', async () => {
    await using fixture = await openMade();
    const owner = await fixture.spawnOwner();
    await query(owner.answer.url, 'create table kept as select 1 as n');

    await kill(owner.child);
    await untilGone(owner.answer.pid);
    const server = await fixture.start();

    assert.deepEqual(await query(server.url, 'select n from kept'), [{ n: 1 }]);
  });

  test('starts where it cannot write who owns the directory, as on a full disk', async () => {
    await using fixture = openEnvironment();
    fs.mkdirSync(path.join(fixture.dir, 'owner.pid'), { recursive: true });

    const server = await fixture.start();

    assert.deepEqual(await query(server.url, 'select 1 as n'), [{ n: 1 }]);
    await assert.rejects(startEmbedded({ dir: fixture.dir, log }), /is in use by process unknown/);
  });

  test('reports its own death, after which it can be started again', async () => {
    await using fixture = await openMade();
    const first = await fixture.start();
    await query(first.url, 'create table kept as select 1 as n');
    const died = new Promise<string>((resolve) => first.onExit(resolve));

    process.kill(first.pid, 'SIGKILL');

    assert.match(await died, /^SIGKILL/);
    const server = await fixture.start();
    assert.deepEqual(await query(server.url, 'select n from kept'), [{ n: 1 }]);
  });

  test('ends when one of its processes crashes, after which it can be started again', async () => {
    await using fixture = await openMade();
    const first = await fixture.start();
    await query(first.url, 'create table kept as select 1 as n');
    const client = new pg.Client({ connectionString: first.url });
    client.on('error', () => undefined);
    await client.connect();
    const backend = (await client.query('select pg_backend_pid() as pid')).rows[0].pid;
    const died = new Promise<string>((resolve) => first.onExit(resolve));

    process.kill(backend, 'SIGKILL');

    assert.match(await died, /^code 1: /);
    const server = await fixture.start();
    assert.deepEqual(await query(server.url, 'select n from kept'), [{ n: 1 }]);
  });

  test('does not report a stop as a death', async () => {
    await using fixture = await openMade();
    const server = await fixture.start();
    const reasons: string[] = [];
    server.onExit((reason) => reasons.push(reason));

    await server.stop();

    assert.deepEqual(reasons, []);
  });

  test('starts after the service and PostgreSQL were killed together', async () => {
    await using fixture = await openMade();
    const owner = await fixture.spawnOwner();
    await query(owner.answer.url, 'create table kept as select 1 as n');

    process.kill(owner.answer.pid, 'SIGKILL');
    await kill(owner.child);
    const server = await fixture.start();

    assert.deepEqual(await query(server.url, 'select n from kept'), [{ n: 1 }]);
  });

  test('starts over a dead postmaster that nobody reaped', async () => {
    await using fixture = await openMade();
    // `sleep` takes the place of the shell that started PostgreSQL, and never asks for its children.
    const parent = fixture.spawnServer((command) => ['sh', '-c', '"$@" & exec sleep 1000', 'sh', ...command]);
    const postmaster = await postmasterReady(fixture.cluster);
    process.kill(postmaster, 'SIGKILL');
    await untilState(postmaster, 'Z');

    const server = await fixture.start();

    assert.deepEqual(await query(server.url, 'select 1 as n'), [{ n: 1 }]);
    await kill(parent);
  });

  test('stops an orphan that still runs, and starts in its place', async () => {
    await using fixture = await openMade();
    const orphan = fixture.spawnServer((command) => command);
    const ended = once(orphan, 'exit');
    await postmasterReady(fixture.cluster);

    const server = await fixture.start();

    assert.deepEqual(await ended, [0, null]);
    assert.notEqual(server.pid, orphan.pid);
    assert.deepEqual(await query(server.url, 'select 1 as n'), [{ n: 1 }]);
  });

  test('waits for a session that outlives its postmaster before it takes the locks away', async () => {
    await using fixture = await openMade();
    const first = await fixture.start();
    const client = new pg.Client({ connectionString: first.url });
    client.on('error', () => undefined);
    await client.connect();
    const backend = (await client.query('select pg_backend_pid() as pid')).rows[0].pid;
    process.kill(backend, 'SIGSTOP');
    const died = new Promise((resolve) => first.onExit(resolve));
    process.kill(first.pid, 'SIGKILL');
    await died;

    const cleared = clearLeftovers({ cluster: fixture.cluster, socket: fixture.dir });
    await new Promise(setImmediate);
    const lockedMeanwhile = fs.existsSync(path.join(fixture.cluster, 'postmaster.pid'));
    process.kill(backend, 'SIGCONT');
    await cleared;

    assert.equal(lockedMeanwhile, true);
    assert.equal(fs.existsSync(path.join(fixture.cluster, 'postmaster.pid')), false);
    const server = await fixture.start();
    assert.deepEqual(await query(server.url, 'select 1 as n'), [{ n: 1 }]);
  });

  test('starts over a lock whose pid belongs to another program by now', async () => {
    await using fixture = await openMade();
    fs.writeFileSync(path.join(fixture.cluster, 'postmaster.pid'), `${process.pid}\n${fixture.cluster}\n`);
    fs.writeFileSync(path.join(fixture.dir, '.s.PGSQL.5432.lock'), `${process.pid}\n${fixture.cluster}\n`);

    const server = await fixture.start();

    assert.deepEqual(await query(server.url, 'select 1 as n'), [{ n: 1 }]);
  });

  test('starts over a cluster whose making was cut short', async () => {
    await using fixture = openEnvironment();
    makeFolder(fixture.dir);
    fs.mkdirSync(`${fixture.cluster}.making`);
    fs.writeFileSync(path.join(`${fixture.cluster}.making`, 'PG_VERSION'), '18\n');

    const server = await fixture.start();

    assert.deepEqual(await query(server.url, 'select 1 as n'), [{ n: 1 }]);
  });

  test('syncs every name of a first start, the one of the cluster before the password', async (t) => {
    await using fixture = openEnvironment();
    const { unsynced, steps } = recordNames(t);

    await fixture.start();

    assert.deepEqual([...unsynced], []);
    const names = steps.map(({ name }) => path.relative(fixture.dir, name));
    assert.deepEqual(names, ['', 'lib', 'pg18', 'pg18/pg_hba.conf', 'service-password']);
    assert.deepEqual(
      steps.flatMap((step) => step.unsyncedBefore),
      [],
    );
  });

  test('keeps the rows of a first start whose rename a power failure has undone', async () => {
    await using fixture = openEnvironment();
    const first = await fixture.start();
    await query(first.url, 'create table kept as select 1 as n');
    await first.stop();
    fs.renameSync(fixture.cluster, `${fixture.cluster}.making`);

    const server = await fixture.start();

    assert.deepEqual(await query(server.url, 'select n from kept'), [{ n: 1 }]);
  });

  test('refuses to start where the cluster is gone and its password is left, and makes no new one', async () => {
    await using fixture = await openMade();
    fs.rmSync(fixture.cluster, { recursive: true });

    await assert.rejects(
      fixture.start(),
      /pg18 is missing\. Restore it from your backup; .* remove \S+service-password/,
    );

    assert.deepEqual(
      fs.readdirSync(fixture.dir).filter((name) => name.startsWith('pg18')),
      [],
    );
  });

  for (const made of [false, true]) {
    test(`says that ${made ? 'PostgreSQL' : 'initdb'} could not be started, and starts when that has passed`, async (t) => {
      await using fixture = made ? await openMade() : openEnvironment();
      // What Node gives when the process may open no more files: no pipes, no process id, an error a moment later.
      const refuse = () => {
        const child = new EventEmitter();
        process.nextTick(() => child.emit('error', new Error('spawn EMFILE')));
        return child as ChildProcess;
      };
      const spawning = t.mock.method(childProcess, 'spawn', refuse);
      syncBuiltinESMExports();

      const refused = fixture.start();
      await assert.rejects(refused, {
        message: `${made ? 'PostgreSQL' : 'initdb'} could not be started: spawn EMFILE`,
      });
      spawning.mock.restore();
      syncBuiltinESMExports();
      const server = await fixture.start();

      assert.deepEqual(await query(server.url, 'select 1 as n'), [{ n: 1 }]);
    });
  }
});

type Answer = { url: string; pid: number; refusal?: string };

/** A directory for one test; whatever was started in it is stopped and the directory removed. */
function openEnvironment(name = 'database') {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
  // The tests run as root too, where PostgreSQL is another user; as in /root, it may not list what leads to its folder.
  const dir = path.join(home, name);
  const cluster = path.join(dir, 'pg18');
  const undo: (() => Promise<unknown>)[] = [];

  async function start() {
    const server = await startEmbedded({ dir, log });
    undo.push(() => server.stop());
    return server;
  }

  async function spawnOwner(environment: NodeJS.ProcessEnv = {}): Promise<{ child: ChildProcess; answer: Answer }> {
    const child = spawn(
      process.execPath,
      [path.resolve(import.meta.dirname, '../../../test/fixtures/processes/embedded-owner.ts'), dir],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, ...environment },
      },
    );
    undo.push(() => kill(child));
    const [line] = await once(readline.createInterface({ input: child.stdout! }), 'line');
    return { child, answer: JSON.parse(line) };
  }

  /** PostgreSQL as an earlier start may have left it: without anybody who stops it. */
  function spawnServer(wrap: (command: string[]) => string[]): ChildProcess {
    const flags = ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${dir}`];
    const { bin, packageFolder } = findPrograms();
    const command = asPostgresUser(dir, [path.join(bin, 'postgres'), '-D', cluster, ...flags]);
    const [program, ...args] = wrap(command.map((word) => (word === 'INT' ? 'clear' : word)));
    const env = postgresEnvironment(dir, packageFolder);
    const child = spawn(program!, args, { cwd: '/', env, stdio: 'ignore' });
    undo.push(() => kill(child));
    return child;
  }

  return {
    dir,
    cluster,
    start,
    spawnOwner,
    spawnServer,
    async [Symbol.asyncDispose]() {
      for (const step of undo.reverse()) await step();
      fs.rmSync(home, { recursive: true, force: true });
    },
  };
}

/** The same with a cluster, as an earlier start leaves it: making one takes most of the time of a first start. */
async function openMade() {
  const environment = openEnvironment();
  await copyNewCluster(path.dirname(environment.dir));
  return environment;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function postmasterReady(cluster: string): Promise<number> {
  return await until('PostgreSQL to be ready', () => {
    const lines = readOr(path.join(cluster, 'postmaster.pid')).split('\n');
    return lines[7]?.trim() === 'ready' ? Number(lines[0]) : null;
  });
}

async function untilState(pid: number, state: string): Promise<void> {
  await until(`the state ${state}`, () => stateOf(pid) === state);
}

/** Ended, whether or not somebody reaped it. */
async function untilGone(pid: number): Promise<void> {
  await until('the process to end', () => ['', 'Z'].includes(stateOf(pid)));
}

function stateOf(pid: number): string {
  return readOr(`/proc/${pid}/stat`).split(') ').at(-1)?.[0] ?? '';
}

function readOr(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
