import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { startEmbedded } from '../src/db/embedded/server.ts';
import { CITUS_SERVERS } from './fixtures/database/citus.ts';
import { startOutside } from './fixtures/database/outside-postgres.ts';
import { fetchModels } from './fixtures/fetch-models.ts';
import { killStuckFiles } from './stuck-files.ts';

// The test command: starts the databases that the tests need, runs node:test, and removes everything afterwards. Ends
// with the closing lines of the runner, and with its exit code. The words after it say which tests run:
//   none         those that tell a stranger that it works: all but files named `NAME.all.test.ts`
//   --all        all tests, and those of the stores on the system's PostgreSQL and on Citus, where it is
//   --rest       what --all adds to a run without words
//   files, globs these, with the options of node:test

const ROOT = path.resolve(import.meta.dirname, '..');
const TESTS = '{src,sdk,cli,console,test,bench}/**/*.test.ts';
/** Tests that take long, or need a browser, a toolchain or a program that not every machine has. */
const REST = '**/*.all.test.ts';
/** Tests that use SQL. They run on each kind of database. */
const STORE_SUITE = ['src/**/*store.test.ts', 'src/db/**/*.test.ts', 'test/**/*.store.test.ts'];
const NO_STORE = ['src/db/embedded/*.test.ts'];
const REPORTER = path.join(import.meta.dirname, 'reporter.ts');
/**
 * Files whose tests keep no state in modules: FILES_OF_A_BATCH of them run in one process. To start a process and to
 * load the modules of the service takes 0.7 s of processor time, most tests take less.
 */
const IN_BATCHES = '{src,sdk,cli,console,bench}/**';
const FILES_OF_A_BATCH = 16;
/** Files that measure the memory of their process, or that need or change what is loaded in it. */
const ALONE = ['src/{audio/upload/upload,models/pull/pull,http/server/validators,jobs/job}.test.ts'];
// Several times what the slowest file takes. A file that hangs is ended with its name, and the run continues.
const STUCK_AFTER_MS = 1_200_000;

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

async function runTests(words: string[]): Promise<number> {
  if (words.includes('--rest')) return (await runStores()) || (await onEmbedded(filesOf([REST])));
  if (words.includes('--all')) return (await runStores()) || (await onEmbedded(filesOf([TESTS])));
  const [citus] = CITUS_SERVERS;
  const named = words.flatMap((word) => (word.startsWith('-') ? word : filesOf([word])));
  if (citus) return onCitus(citus, words.length > 0 ? named : filesOf(STORE_SUITE, NO_STORE));
  if (words.length > 0) return onEmbedded(named);
  const code = await onEmbedded(filesOf([TESTS], [REST]));
  process.stdout.write('The rest (browsers, other toolchains, long runs): npm run test:all\n');
  return code;
}

/** The store suite on the databases that are not the embedded one. The other tests run when it has passed. */
async function runStores(): Promise<number> {
  const files = filesOf(STORE_SUITE, NO_STORE);
  const [citus] = CITUS_SERVERS;
  return (await onOutside(files)) || (citus ? await onCitus(citus, files) : 0);
}

async function onEmbedded(files: string[]): Promise<number> {
  // Tests need no durability, and several files share the server. A database cannot be dropped while an autovacuum
  // worker is connected to it.
  const settings = { fsync: 'off', max_connections: '400', autovacuum: 'off' };
  const server = await startEmbedded({ dir: path.join(home, 'database'), log, settings, mayCreateDatabases: true });
  try {
    return await runFiles(files, { TEST_DATABASE_URL: server.url });
  } finally {
    await server.stop();
  }
}

async function onOutside(files: string[]): Promise<number> {
  const server = await startOutside(path.join(home, 'outside'));
  try {
    process.stdout.write(`The store suite, on ${server.version} over TCP:\n`);
    return await runFiles(files, { TEST_DATABASE_URL: server.url });
  } finally {
    await server.stop();
  }
}

async function onCitus(url: string, files: string[]): Promise<number> {
  process.stdout.write('The store suite, on Citus:\n');
  return runFiles(files, { TEST_DATABASE_URL: url, TEST_CITUS: CITUS_SERVERS.join(' ') });
}

/** @param database  the variables that name the database of the tests */
async function runFiles(files: string[], database: Record<string, string>): Promise<number> {
  if (interrupted.signal.aborted) return 130;
  const flags = [
    '--test',
    `--test-reporter=${REPORTER}`,
    `--test-concurrency=${os.availableParallelism() + 1}`,
    '--test-force-exit',
  ];
  const env = {
    ...process.env,
    PATH: searchPath(),
    TMPDIR: temporary,
    TEST_CITUS: '',
    ...database,
    ...(modelsDir !== null && { TEST_MODELS: modelsDir }),
    TEST_NEW_CLUSTER: path.join(home, 'new-cluster'),
    TEST_COMPILED: path.join(home, 'compiled'),
  };
  const runner = spawn(process.execPath, [...flags, ...inBatches(files)], { stdio: 'inherit', env });
  using _watch = killStuckFiles(runner.pid!, STUCK_AFTER_MS);
  const stop = () => runner.kill('SIGINT');
  interrupted.signal.addEventListener('abort', stop, { once: true });
  const [code] = await once(runner, 'exit');
  interrupted.signal.removeEventListener('abort', stop);
  return interrupted.signal.aborted ? 130 : (code ?? 1);
}

/** The files, with files that import several of them in place of those that run in batches. */
function inBatches(files: string[]): string[] {
  const batched = new Set(filesOf([IN_BATCHES], ALONE));
  const areas = Map.groupBy(
    files.filter((file) => batched.has(file)),
    areaOf,
  );
  const batches = [...areas].flatMap(([area, all]) =>
    chunksOf(all, FILES_OF_A_BATCH).map((some, index) => {
      const file = path.join(home, `${area}-${index + 1}.test.mjs`);
      fs.writeFileSync(file, some.map((each) => `import ${JSON.stringify(pathToFileURL(each).href)};\n`).join(''));
      return some.length > 1 ? file : some[0]!;
    }),
  );
  return [...files.filter((file) => !batched.has(file)), ...batches];
}

/** Such as `src-jobs`: files of one area load much the same modules. */
function areaOf(file: string): string {
  return path.relative(ROOT, path.dirname(file)).split(path.sep).slice(0, 2).join('-');
}

function chunksOf<Value>(values: Value[], size: number): Value[][] {
  return values.flatMap((_, at) => (at % size === 0 ? [values.slice(at, at + size)] : []));
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
