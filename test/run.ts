import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startEmbedded } from '../src/db/embedded/server.ts';
import { startOutside } from './fixtures/database/outside-postgres.ts';
import { fetchModels } from './fixtures/fetch-models.ts';
import { killStuckFiles } from './stuck-files.ts';

// The test command: starts the databases that the tests need, runs node:test over the tree or over the files named, and
// removes everything afterwards. Ends with the closing lines of the runner, and with its exit code.

const ROOT = path.resolve(import.meta.dirname, '..');
const EVERYTHING = [
  ...['src/**/*.test.ts', 'sdk/**/*.test.ts', 'cli/**/*.test.ts', 'console/**/*.test.ts', 'test/**/*.test.ts'],
  'bench/**/*.test.ts',
];
/** Tests that use SQL. They run on both kinds of database. */
const STORE_SUITE = ['src/**/*store.test.ts', 'src/db/**/*.test.ts', 'test/**/*.store.test.ts'];
const NO_STORE = ['src/db/embedded/*.test.ts'];
// Much longer than the slowest test: a test that hangs fails with its name, its process ends, and the run continues.
const TEST_TIMEOUT_MS = 300_000;
// Longer than the slowest file on a busy machine: the generated requests, which have 900 s.
const STUCK_AFTER_MS = 1_000_000;

// Several times what a run uses at most.
const MEMORY = { folder: '/dev/shm', minFreeBytes: 8e9 };

const log = { debug() {}, warn() {} };
const home = fs.mkdtempSync(path.join(temporaryRoot(), 'verbatim-test-'));
// Files of an interrupted test are removed with the rest.
const temporary = path.join(home, 'tmp');
fs.mkdirSync(temporary);
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort());

const modelsDir = await pullModels();

try {
  process.exitCode = await runTests(process.argv.slice(2));
} finally {
  fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/**
 * The folder of temporary files in memory, where it is large enough and programs may be run from it; else that of the
 * system. A test's database has 420 files, and making them on a disk takes four times the processor time.
 */
function temporaryRoot(): string {
  const { folder, minFreeBytes } = MEMORY;
  const mounts = fs.existsSync('/proc/mounts') ? fs.readFileSync('/proc/mounts', 'utf8').split('\n') : [];
  const [, , , options] = mounts.find((line) => line.split(' ')[1] === folder)?.split(' ') ?? [];
  if (options === undefined || /\b(?:ro|noexec)\b/.test(options)) return os.tmpdir();
  const { bavail, bsize } = fs.statfsSync(folder);
  return Math.min(bavail * bsize, os.freemem()) < minFreeBytes ? os.tmpdir() : folder;
}

/** The folder of the models that tests with real speech use; null, after a sentence, where they cannot be fetched. */
async function pullModels(): Promise<string | null> {
  try {
    return await fetchModels(interrupted.signal);
  } catch (error) {
    process.stderr.write(`Tests with real speech are skipped: ${(error as Error).message}\n`);
    return null;
  }
}

/** The whole tree runs last, so that the closing lines are about it; it does not run when the stores failed. */
async function runTests(given: string[]): Promise<number> {
  const citus = process.env['TEST_CITUS']?.split(' ')[0];
  if (citus) return runFiles(given.length > 0 ? given : filesOf(STORE_SUITE, NO_STORE), citus);
  if (given.length > 0) return onEmbedded(given);
  return (await onOutside(filesOf(STORE_SUITE, NO_STORE))) || (await onEmbedded(filesOf(EVERYTHING)));
}

async function onEmbedded(files: string[]): Promise<number> {
  // Tests need no durability, and several files share the server. A database cannot be dropped while an autovacuum
  // worker is connected to it.
  const settings = { fsync: 'off', max_connections: '400', autovacuum: 'off' };
  const server = await startEmbedded({ dir: path.join(home, 'database'), log, settings, mayCreateDatabases: true });
  try {
    return await runFiles(files, server.url);
  } finally {
    await server.stop();
  }
}

async function onOutside(files: string[]): Promise<number> {
  if (files.length === 0) return 0;
  const server = await startOutside(path.join(home, 'outside'));
  try {
    process.stderr.write(`The store suite, on ${server.version} over TCP:\n`);
    return await runFiles(files, server.url);
  } finally {
    await server.stop();
  }
}

async function runFiles(files: string[], databaseUrl: string): Promise<number> {
  if (interrupted.signal.aborted) return 130;
  const flags = [
    '--test',
    '--test-reporter=spec',
    `--test-concurrency=${os.availableParallelism() + 1}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    '--test-force-exit',
  ];
  const env = {
    ...process.env,
    PATH: searchPath(),
    TMPDIR: temporary,
    TEST_DATABASE_URL: databaseUrl,
    ...(modelsDir !== null && { TEST_MODELS: modelsDir }),
    TEST_NEW_CLUSTER: path.join(home, 'new-cluster'),
    TEST_COMPILED: path.join(home, 'compiled'),
  };
  const runner = spawn(process.execPath, [...flags, ...files], { stdio: 'inherit', env });
  using _watch = killStuckFiles(runner.pid!, STUCK_AFTER_MS);
  const stop = () => runner.kill('SIGINT');
  interrupted.signal.addEventListener('abort', stop, { once: true });
  const [code] = await once(runner, 'exit');
  interrupted.signal.removeEventListener('abort', stop);
  return interrupted.signal.aborted ? 130 : (code ?? 1);
}

/** Tests make their fixtures with ffmpeg, which may have been unpacked instead of installed. */
function searchPath(): string | undefined {
  const { PATH, VERBATIM_TOOLS } = process.env;
  return VERBATIM_TOOLS ? `${path.join(VERBATIM_TOOLS, 'bin')}:${PATH}` : PATH;
}

function filesOf(patterns: string[], except: string[] = []): string[] {
  const files = new Set(fs.globSync(patterns, { cwd: ROOT }));
  for (const file of fs.globSync(except, { cwd: ROOT })) files.delete(file);
  return [...files].sort().map((file) => path.join(ROOT, file));
}
