import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo, type ListenOptions } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { promisify } from 'node:util';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { until } from '../../../test/fixtures/until.ts';
import { findProgram } from '../../platform/tools.ts';
import { findSandbox } from './sandbox.ts';
import { type SandboxKind, spawnSandboxed } from './sandbox-process.ts';

const execFile = promisify((await import('node:child_process')).execFile);
const ROOT = path.resolve(import.meta.dirname, '../../..');
const isRoot = process.getuid?.() === 0;
/** The service's user in these tests; a number without an account. */
const PLAIN_USER = 61_234;

type User = { name: string; uid: number; command: string[]; skip: string | false };

function userOf(name: string, uid: number): User {
  const isSelf = uid === process.getuid?.();
  const words = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  const command = isSelf ? [process.execPath] : [...words, process.execPath];
  return { name, uid, command, skip: whyNot(command) };
}

function whyNot(command: string[]): string | false {
  if (process.platform !== 'linux') return 'the sandbox needs Linux';
  if (findProgram(TEST_TOOLS, 'bwrap') === null) return 'bubblewrap is not installed';
  const sandbox = ['--unshare-user', '--unshare-net', '--ro-bind', '/', '/', process.execPath];
  try {
    const [program, ...args] = [...command.slice(0, -1), findProgram(TEST_TOOLS, 'bwrap')!, ...sandbox, '--version'];
    execFileSync(program!, args, { stdio: 'ignore' });
    return false;
  } catch {
    return 'this user cannot create namespaces here, or cannot run this Node';
  }
}

/** As in containers and under systemd's ProtectKernelTunables, where the kernel does not allow mounting /proc. */
const HIDE_PROC = 'mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && exec "$@"';

const USERS = isRoot
  ? [userOf('root', 0), userOf('a plain user', PLAIN_USER)]
  : [userOf('a plain user', process.getuid?.() ?? 0)];

function behindHiddenProc({ name, uid, command }: User): User {
  const hidden = ['unshare', '--mount', 'sh', '-c', HIDE_PROC, 'sh', ...command];
  return { name: `${name} where /proc is partly hidden`, uid, command: hidden, skip: whyNot(hidden) };
}

for (const user of [...USERS, ...(isRoot ? USERS.map(behindHiddenProc) : [])]) {
  test(`as ${user.name}, hostile code in place of ffmpeg reaches nothing but its input`, {
    skip: user.skip,
  }, async () => {
    await using service = await openServiceOf(user);

    const report = await service.runHostile();

    assert.deepEqual(report.read, []);
    assert.deepEqual(report.written, []);
    assert.deepEqual(report.connected, []);
    assert.deepEqual(report.signalled, []);
    assert.deepEqual(
      report.processes.filter((name) => name !== 'bwrap'),
      [],
    );
    assert.deepEqual(report.descriptors, []);
    assert.deepEqual(
      report.environment.filter((name) => !['PATH', 'LC_ALL', 'LD_LIBRARY_PATH', 'PWD'].includes(name)),
      [],
    );
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
      assert.equal(report.status[set], '0000000000000000', set);
    }
    assert.equal(report.status.NoNewPrivs, '1');
    assert.equal(report.status.Seccomp, '2');
    assert.ok(!/\b0\b/.test(report.status.Uid!), `uid ${report.status.Uid}`);
    assert.equal(report.input, 'the upload');
    assert.deepEqual([report.started, report.refused], [0, 'EPERM']);
  });

  test(`as ${user.name}, a video with its index at the end is decoded`, { skip: user.skip }, async () => {
    await using service = await openServiceOf(user);
    await using folder = await openTestFolder();
    const video = ['-f', 'lavfi', '-i', 'color=c=blue:s=64x64:r=10:d=2', '-map', '0:a', '-map', '1:v', '-c:v', 'mpeg4'];
    const file = await folder.encode('video.mp4', toneSpeech('an index'), ...video);

    const { samples, probed } = await service.decode(file);

    assert.ok(samples > 16_000, `${samples} samples`);
    assert.equal(probed.kind, 'audio');
  });
}

for (const user of USERS) {
  for (const kind of ['bubblewrap', 'namespaces', 'process', 'limits']) {
    test(`as ${user.name}, a decoder in ${kind} ends with the service`, { skip: user.skip }, async () => {
      await using folder = await openTestFolder();
      // Identifies the decoder in the list of processes.
      const source = `sine=r=192000:d=${process.pid}:f=${user.uid + kind.length}`;
      const endlessArguments = ['-nostdin', '-v', 'error', '-f', 'lavfi', '-re', '-i', source, '-f', 'null', '-'];
      const order = { tools: TEST_TOOLS, kind, endlessArguments, input: folder.path };
      const [program, ...args] = [
        ...user.command,
        path.join(ROOT, 'test/fixtures/processes/sandbox-user.ts'),
        JSON.stringify(order),
      ];
      const service = spawn(program!, args, { cwd: '/', env: { PATH: process.env['PATH'] }, stdio: 'inherit' });
      await until('the decoder to run', () => decodersOf(source).length > 0);

      service.kill('SIGKILL');

      await until('the decoder to be gone', () => decodersOf(source).length === 0);
    });
  }
}

function decodersOf(source: string): string[] {
  return fs.globSync('/proc/[0-9]*/cmdline').filter((file) => {
    try {
      const words = fs.readFileSync(file, 'utf8').split('\0');
      return words.includes(source) && words[0]!.endsWith('ffmpeg');
    } catch {
      return false;
    }
  });
}

/** What the weaker kinds still protect, for machines without bubblewrap. */
const WEAKER: { kind: SandboxKind; reaches: (report: Report) => object; expected: object }[] = [
  {
    kind: 'namespaces',
    reaches: ({ connected, processes, signalled }) => ({
      network: connected.filter((where) => !String(where).startsWith('/')),
      processes: processes.length,
      signalled,
    }),
    expected: { network: [], processes: 0, signalled: [] },
  },
  { kind: 'process', reaches: () => ({}), expected: {} },
];

for (const user of USERS) {
  for (const { kind, reaches, expected } of WEAKER) {
    test(`as ${user.name}, the sandbox of kind ${kind} gives its protections`, { skip: user.skip }, async () => {
      await using service = await openServiceOf(user);

      const report = await service.runHostile(kind);

      assert.deepEqual(reaches(report), expected);
      assert.equal(report.status['CapEff'], '0000000000000000');
      assert.equal(report.status['NoNewPrivs'], '1');
      assert.deepEqual(
        report.environment.filter((name) => !['PATH', 'LC_ALL', 'LD_LIBRARY_PATH'].includes(name)),
        [],
      );
      assert.deepEqual(report.descriptors, []);
      assert.equal(report.input, 'the upload');
      // Under root the program runs as another user without access to files of root.
      if (user.uid === 0)
        assert.deepEqual(
          report.read.filter((file) => file.includes('/data/')),
          [],
        );
    });
  }
}

test('without bubblewrap the next kind is found, with the protections that it lacks', {
  skip: USERS.at(-1)!.skip,
}, async () => {
  await using folder = await openTestFolder();
  fs.mkdirSync(path.join(folder.path, 'bin'));
  for (const name of ['bwrap', 'unshare']) {
    await folder.write(`bin/${name}`, '#!/bin/sh\necho "not allowed here" >&2\nexit 1\n');
    fs.chmodSync(path.join(folder.path, 'bin', name), 0o755);
    const { kind, missing, reason } = await findSandbox({ folder: folder.path });

    assert.equal(kind, name === 'bwrap' ? 'namespaces' : 'process');
    assert.ok(missing.includes('files') && missing.includes('network') === (name === 'unshare'), missing.join());
    assert.equal(reason, 'bubblewrap: not allowed here');
  }
});

test('where root cannot change the user, CPU time, memory and files are still limited', {
  skip: isRoot ? USERS[0]!.skip : 'only root changes the user',
}, async () => {
  await using folder = await openTestFolder();
  fs.mkdirSync(path.join(folder.path, 'bin'));
  const refusing = {
    bwrap: 'exit 1',
    unshare: 'exit 1',
    setpriv: 'case "$*" in *--reuid*) exit 1 ;; esac; exec /usr/bin/setpriv "$@"',
  };
  for (const [name, script] of Object.entries(refusing)) {
    await folder.write(`bin/${name}`, `#!/bin/sh\n${script}\n`);
    fs.chmodSync(path.join(folder.path, 'bin', name), 0o755);
  }
  const tools = { folder: folder.path };

  const { kind, missing } = await findSandbox(tools);

  assert.equal(kind, 'limits');
  assert.ok(missing.includes('capabilities') && missing.includes('network'), missing.join());
  const limits = { memoryMaxBytes: 2 ** 30, cpuMaxSeconds: 7 };
  const order = { tools, program: '/bin/cat', args: ['/proc/self/limits'], limits, input: null };
  const { child, ended } = spawnSandboxed(kind, order);
  const [shown, { code }] = await Promise.all([text(child.stdout), ended]);
  assert.equal(code, 0);
  assert.match(shown, /Max cpu time +7 /);
  assert.match(shown, /Max file size +0 /);
  assert.match(shown, /Max address space +1073741824 /);
});

test('in bubblewrap a program gets no memory that outlives it or that its limit does not count', {
  skip: USERS[0]!.skip,
}, async () => {
  const limits = { memoryMaxBytes: 2 ** 30, cpuMaxSeconds: 7 };
  for (const kind of ['--shmem=4096', '--queue', '--semaphore=1']) {
    const order = { tools: TEST_TOOLS, program: findProgram(TEST_TOOLS, 'ipcmk')!, args: [kind], limits, input: null };
    const { child, ended } = spawnSandboxed('bubblewrap', order);

    const [message, { code }] = await Promise.all([text(child.stderr), ended]);

    assert.equal(code, 1, kind);
    assert.match(message, /Operation not permitted/);
  }
});

type Report = {
  read: string[];
  written: string[];
  connected: (string | number)[];
  signalled: number[];
  processes: string[];
  environment: string[];
  descriptors: number[];
  status: Record<string, string>;
  input: string;
  started: number;
  /** The code with which no further process was started. */
  refused: string | null;
};

/** A data directory of that user's service, with everything that a decoder must not reach. */
async function openServiceOf(user: User) {
  // Outside the folder of this test run, which other users cannot enter.
  const home = fs.mkdtempSync('/tmp/verbatim-sandbox-');
  const [dataDir, toolsDir] = [path.join(home, 'data'), path.join(home, 'tools')];
  fs.mkdirSync(dataDir);
  fs.mkdirSync(path.join(toolsDir, 'bin'), { recursive: true });
  const upload = path.join(dataDir, 'upload');
  const secret = path.join(dataDir, 'secrets-key');
  for (const [file, text] of [
    [upload, 'the upload'],
    [secret, 'a key'],
  ] as const)
    fs.writeFileSync(file, text, { mode: 0o600 });
  const open = path.join(home, 'readable-by-all');
  fs.writeFileSync(open, 'not a decoder’s business', { mode: 0o644 });
  const hostile = fs.readFileSync(path.join(ROOT, 'test/fixtures/audio/hostile-decoder.cjs'), 'utf8');
  fs.writeFileSync(path.join(toolsDir, 'bin', 'ffmpeg'), `#!${process.execPath}\n${hostile}`, { mode: 0o755 });
  const socket = path.join(dataDir, '.s.PGSQL.5432');
  const abstract = `\0verbatim-test-${path.basename(home)}`;
  const servers = [
    await listen({ path: socket }),
    await listen({ path: abstract }),
    await listen({ port: 0, host: '127.0.0.1' }),
  ];
  fs.chmodSync(socket, 0o777);
  execFileSync('chown', ['-R', `${user.uid}:${user.uid}`, home]);
  fs.chmodSync(dataDir, 0o700);
  fs.chmodSync(home, 0o755);

  async function run(order: object): Promise<string> {
    const [program, ...args] = [
      ...user.command,
      path.join(ROOT, 'test/fixtures/processes/sandbox-user.ts'),
      JSON.stringify(order),
    ];
    const env = { PATH: process.env['PATH'], ADMIN_TOKEN: 'a-token', AWS_SECRET_ACCESS_KEY: 'a-key' };
    return (await execFile(program!, args, { env, cwd: '/' })).stdout;
  }

  return {
    async runHostile(kind?: SandboxKind): Promise<Report> {
      const wanted = {
        files: [secret, upload, open, '/etc/passwd', `/proc/${process.pid}/environ`],
        written: [path.join(home, 'written'), '/tmp/verbatim-written', '/proc/sys/kernel/core_pattern'],
        sockets: [socket, abstract],
        ports: [(servers[2]!.address() as AddressInfo).port],
        pids: [process.pid],
        maxProcesses: kind === undefined ? 100 : 2,
      };
      return JSON.parse(
        await run({ kind, tools: { folder: toolsDir }, input: upload, hostileArgument: JSON.stringify(wanted) }),
      );
    },
    async decode(file: string) {
      fs.copyFileSync(file, upload);
      return JSON.parse(await run({ tools: TEST_TOOLS, input: upload }));
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) server.close();
      fs.rmSync(home, { recursive: true, force: true });
    },
  };
}

async function listen(where: ListenOptions): Promise<net.Server> {
  const server = net.createServer((connection) => connection.destroy()).listen(where);
  await once(server, 'listening');
  return server;
}

const WITHOUT_DESCRIPTORS = `
  import fs from 'node:fs';
  const [, module, order] = process.argv;
  const { spawnSandboxed } = await import(module);
  const start = async () => spawnSandboxed('bubblewrap', JSON.parse(order)).ended.catch(String);
  await start();
  const taken = [];
  try {
    for (;;) taken.push(fs.openSync('/dev/null'));
  } catch {}
  // Enough to look for the programs, too few for pipes.
  for (const descriptor of taken.splice(0, 3)) fs.closeSync(descriptor);
  console.log(await start().catch(String));
`;

test('a process that has no descriptors left for a decoder goes on', {
  skip: findProgram(TEST_TOOLS, 'bwrap') === null && 'bubblewrap is not installed',
}, async () => {
  const limits = { memoryMaxBytes: 2 ** 29, cpuMaxSeconds: 1 };
  const program = findProgram(TEST_TOOLS, 'prlimit');
  const order = { tools: TEST_TOOLS, program, args: ['--version'], limits, input: null };
  const module = new URL('./sandbox-process.ts', import.meta.url).href;
  const node = [process.execPath, '--input-type=module', '-e', WITHOUT_DESCRIPTORS, module, JSON.stringify(order)];

  const { stdout } = await execFile('sh', ['-c', 'ulimit -n 64 && exec "$@"', 'sh', ...node]);

  assert.match(stdout, /^Error: No file descriptor is left/);
});
