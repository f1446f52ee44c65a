import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { syncFolder } from '../../platform/files/durable-names.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { claimDirectory } from './folder-lock.ts';
import { clearLeftovers } from './leftovers.ts';
import { postgresEnvironment } from './libraries.ts';
import { asPostgresUser, makeFolder, socketFolder } from './place.ts';
import { findPrograms, type Programs } from './programs.ts';
import { passwordFile, prepareRole, SUPERUSER, serviceUrl } from './role.ts';

/** A PostgreSQL that belongs to this process. */
export type EmbeddedDatabase = {
  /** `postgres://…` over the Unix socket, with the password, for openDatabase. */
  url: string;
  pid: number;
  programs: Programs;
  /** Shuts PostgreSQL down cleanly and frees the directory; open connections are ended. */
  stop(): Promise<void>;
  /** Calls back once if PostgreSQL ends without `stop`; the directory is unlocked, so it can be started again. */
  onExit(callback: (reason: string) => void): void;
};

export type EmbeddedOptions = {
  /** Contains cluster, socket and lock. Created if missing, mode 0700. */
  dir: string;
  log: { debug(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** Further settings of PostgreSQL. */
  settings?: Record<string, string>;
  /** Folder of the programs of PostgreSQL 18; absent: the newest that the machine has. */
  postgresBin?: string | null;
  /** For tests, which create a database each. */
  mayCreateDatabases?: boolean;
};

// Recovery after a crash replays at most max_wal_size (1 GB); a slow disk reads that in under two minutes.
const READY_TIMEOUT_MS = 120_000;
const READY_POLL_MS = 5;
const TAIL_LINES = 20;

const SETTINGS = {
  listen_addresses: '',
  port: '5432',
  unix_socket_permissions: '0700',
  // A whole node opens 46, the rest is for the command line and psql. PostgreSQL reserves and touches 20 KB for each.
  max_connections: '64',
  // The least: no transaction is serializable.
  max_pred_locks_per_transaction: '10',
  // Nothing runs in the background, and nobody replicates: a place for each would be reserved and touched at the start.
  max_worker_processes: '0',
  max_logical_replication_workers: '0',
  max_wal_senders: '0',
  max_replication_slots: '0',
  autovacuum_worker_slots: '3',
  // Statements read few blocks, which backends read themselves:
  // no processes for it, no memory for reads in the background.
  io_method: 'sync',
  io_max_concurrency: '1',
  // PostgreSQL clears all of it at its start, 4 MB by default; a commit empties it.
  wal_buffers: '1MB',
  // For the pages in use on a busy day: open deliveries, their events, and the ends of growing indexes.
  shared_buffers: '128MB',
  // A container often has only 64 MB of /dev/shm, and the statements are too short to gain from parallel workers.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  jit: 'off',
  // When one of its processes crashes, PostgreSQL ends, and its owner starts it again. By default it recovers without a
  // restart; where that recovery fails too, as on a full disk, version 18.4 may run on and refuse connections for ever.
  restart_after_crash: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Only lines about the server: a statement or a row may contain a client's text.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

/**
 * Starts PostgreSQL 18 in `dir`, with a new cluster if there is none, and waits until it accepts connections. Processes
 * and lock files left by a crash are removed first.
 * @throws DirectoryTakenError  while another process has `dir` open
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { dir, log, mayCreateDatabases = false } = options;
  const programs = findPrograms({ bin: options.postgresBin ?? null });
  makeFolder(dir);
  const claim = claimDirectory(dir);
  try {
    const cluster = path.join(dir, 'pg18');
    const socket = socketFolder(dir);
    if (!fs.existsSync(cluster)) finishCluster(dir, cluster);
    await clearLeftovers({ cluster, socket });
    if (!fs.existsSync(cluster)) await makeCluster(dir, cluster, programs);
    // Also for a start that was killed between a rename and the sync.
    syncFolder(dir);
    const settings = { ...SETTINGS, ...options.settings, unix_socket_directories: socket };
    await prepareRole({ dir, cluster, settings, programs, mayCreateDatabases });
    const url = serviceUrl(dir, socket);
    const server = await launch({ dir, cluster, settings, programs });
    const tail = followLog(server, log);
    await untilReady(server, cluster, tail);
    return handle(server, { url, programs, release: claim.release, tail });
  } catch (cause) {
    claim.release();
    throw cause;
  }
}

/**
 * Names the cluster of a complete first start whose rename a power failure has undone: the password is written last.
 * @throws Error  when that cluster is gone; a new one in its place would hide the loss
 */
function finishCluster(dir: string, cluster: string): void {
  const password = passwordFile(dir);
  if (!fs.existsSync(password)) return;
  if (!fs.existsSync(path.join(`${cluster}.making`, 'PG_VERSION'))) {
    throw new Error(
      `${dir} has had a database, and ${cluster} is missing. Restore it from your backup; to start with an empty database instead, remove ${password}.`,
    );
  }
  fs.renameSync(`${cluster}.making`, cluster);
}

/** initdb writes into a temporary folder, which is renamed when it is complete: a kill leaves no partial cluster. */
async function makeCluster(dir: string, cluster: string, { bin, packageFolder }: Programs): Promise<void> {
  const making = `${cluster}.making`;
  fs.rmSync(making, { recursive: true, force: true });
  const options = ['-D', making, '-U', SUPERUSER, '-A', 'reject', '--no-locale', '-E', 'UTF8'];
  const [command, ...args] = asPostgresUser(dir, [path.join(bin, 'initdb'), ...options]);
  const env = postgresEnvironment(dir, packageFolder);
  const initdb = spawn(command!, args, { cwd: '/', env, stdio: ['ignore', 'ignore', 'pipe'] });
  await untilStarted(initdb, 'initdb');
  let complaint = '';
  initdb.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk).slice(-4_000);
  });
  const [code] = await once(initdb, 'close');
  if (code !== 0) throw new Error(`initdb could not make the database in ${dir}: ${complaint.trim()}`);
  fs.renameSync(making, cluster);
}

type Launch = { dir: string; cluster: string; settings: Record<string, string>; programs: Programs };

async function launch({ dir, cluster, settings, programs }: Launch): Promise<ChildProcess> {
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [command, ...args] = asPostgresUser(dir, [path.join(programs.bin, 'postgres'), '-D', cluster, ...flags]);
  // In a session of its own, so that Ctrl-C on the terminal does not end it before the connections are closed.
  const server = spawn(command!, args, {
    cwd: '/',
    env: postgresEnvironment(dir, programs.packageFolder),
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  await untilStarted(server, 'PostgreSQL');
  return server;
}

/** A process that could not be started has no pipes and never exits. */
async function untilStarted(child: ChildProcess, name: string): Promise<void> {
  await once(child, 'spawn').catch((cause: Error) => {
    throw new Error(`${name} could not be started: ${cause.message}`, { cause });
  });
}

function followLog(server: ChildProcess, log: EmbeddedOptions['log']): string[] {
  const tail: string[] = [];
  readline.createInterface({ input: server.stderr! }).on('line', (line) => {
    tail.push(line);
    if (tail.length > TAIL_LINES) tail.shift();
    if (/ was terminated by signal| PANIC: /.test(line)) log.warn({ postgres: line }, 'postgres');
    else log.debug({ postgres: line }, 'postgres');
  });
  return tail;
}

/** postmaster.pid has the pid in its first line and, once connections are accepted, `ready` in its eighth. */
async function untilReady(server: ChildProcess, cluster: string, tail: string[]): Promise<void> {
  let failure: Error | undefined;
  server.once('close', () => {
    failure ??= new Error(`PostgreSQL ended while starting: ${tail.join('\n')}`);
  });
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  while (!isReady(server, cluster)) {
    if (failure) throw failure;
    if (performance.now() > deadlineMs) {
      server.kill('SIGKILL');
      throw new Error(`PostgreSQL was not ready after ${READY_TIMEOUT_MS / 1000} s: ${tail.join('\n')}`);
    }
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
}

function isReady(server: ChildProcess, cluster: string): boolean {
  try {
    const lines = fs.readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    return Number(lines[0]) === server.pid && lines[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}

type Handle = { url: string; programs: Programs; release: () => void; tail: string[] };

function handle(server: ChildProcess, { url, programs, release, tail }: Handle): EmbeddedDatabase {
  const exited = once(server, 'exit').then(([code, signal]) => {
    release();
    return `${signal ?? `code ${code}`}: ${tail.at(-1) ?? 'no output'}`;
  });
  let stopping: Promise<void> | undefined;

  async function stop(): Promise<void> {
    // SIGINT is PostgreSQL's fast shutdown: it ends the sessions and writes a checkpoint.
    server.kill('SIGINT');
    // A fast shutdown takes tens of ms. A killed PostgreSQL loses nothing; its next start takes longer.
    const kill = setTimeout(() => server.kill('SIGKILL'), BOUNDS.databaseStopMs);
    await exited;
    clearTimeout(kill);
  }

  return {
    url,
    pid: server.pid!,
    programs,
    stop: () => (stopping ??= stop()),
    onExit: (callback) => {
      exited.then((reason) => stopping ?? callback(reason));
    },
  };
}
