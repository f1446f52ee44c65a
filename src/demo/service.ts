import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ROOT } from '../platform/installation.ts';

// CommonJS that looks for its own place: in a bundle it would find the wrong one.
const load = createRequire(import.meta.url);
const { prepareBundle } = load(
  path.join(ROOT, 'bin/prepare/bundle.js'),
) as typeof import('../../bin/prepare/bundle.js');
const { nodeFor } = load(
  path.join(ROOT, 'bin/prepare/snapshot/packages.js'),
) as typeof import('../../bin/prepare/snapshot/packages.js');

// The first start with whisper-base takes half a minute of processor time, in which its longest piece is found out.
const READY_WAIT_MS = 180_000;
const READY_POLL_MS = 25;
/** A start that takes longer says what it waits for. */
const QUIET_START_MS = 3_000;
const STOP_WAIT_MS = 15_000;
const STOP_POLL_MS = 250;
// Linux assigns ports from 32768 on, macOS and Windows from 49152 on. `fetch` refuses 10080.
const FIRST_PORT = 11_000;
const NUMBER_OF_PORTS = 21_000;
const PORTS_PER_PROCESS = 16;

export type DemoService = {
  pid: number;
  baseUrl: string;
  adminToken: string;
  /** Null while it runs, or when a signal ended it. */
  exitCode(): number | null;
  /** Resolves when the service has ended, for any reason. */
  ended: Promise<void>;
  stop(): Promise<void>;
};

type StartOptions = {
  dataDir: string;
  port: number;
  env: Record<string, string>;
  /** Called with the reasons why the service is not ready, when a start takes long and each time they change. */
  onWaiting?: (reasons: string) => void;
  /** Whether a service with these reasons of /readyz is ready all the same. */
  isReady?: (reasons: string[]) => boolean;
  /** Begins to count the time that a start and a stop take, in ms. Tests count what the machine has for them. */
  stopwatch?: () => () => number;
};

const wallTime = () => {
  const startedAtMs = performance.now();
  return () => performance.now() - startedAtMs;
};

/**
 * Starts the service in a separate process and waits until it is ready, as `bin/verbatim serve` does: from its
 * bundle, without a compile cache. Its log goes to `service.log` in the data directory.
 * @throws Error  with the last lines of that log when it ends early or does not become ready
 */
export async function startService(options: StartOptions): Promise<DemoService> {
  const { stopwatch = wallTime } = options;
  const logFile = path.join(options.dataDir, 'service.log');
  const log = openSync(logFile, 'a');
  const bundle = prepareBundle(ROOT);
  const child = spawn(nodeFor(ROOT, bundle, process.execPath), [path.join(bundle, 'main.js')], {
    // The service stops when this channel closes, so it never outlives this process.
    stdio: ['ignore', log, log, 'ipc'],
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: undefined,
      DATA_DIR: options.dataDir,
      HOST: '127.0.0.1',
      PORT: String(options.port),
      ...options.env,
    },
  });
  closeSync(log);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const baseUrl = `http://127.0.0.1:${options.port}`;
  const service: DemoService = {
    pid: child.pid!,
    exitCode: () => child.exitCode,
    baseUrl,
    adminToken: '',
    ended,
    stop: () => stop(child, ended, stopwatch()),
  };
  passSignals(child);

  const outcome = await Promise.race([
    untilReady(baseUrl, child, { ...options, stopwatch }),
    ended.then(() => 'ended' as const),
  ]);
  if (outcome !== 'ready') {
    await service.stop();
    throw new Error(`The service did not become ready (${outcome}). The end of ${logFile}:\n${lastLines(logFile)}`);
  }
  service.adminToken = readFileSync(path.join(options.dataDir, 'admin-token'), 'utf8').trim();
  return service;
}

async function untilReady(
  baseUrl: string,
  child: ChildProcess,
  { onWaiting, isReady, stopwatch }: Pick<StartOptions, 'onWaiting' | 'isReady'> & { stopwatch: () => () => number },
): Promise<'ready' | string> {
  const elapsedMs = stopwatch();
  let [last, shown] = ['no answer', ''];
  while (elapsedMs() < READY_WAIT_MS && child.exitCode === null && child.signalCode === null) {
    const answer = await fetch(`${baseUrl}/readyz`).catch(() => null);
    if (answer?.ok) return 'ready';
    const reasons = answer ? reasonsIn(await answer.text()) : [last];
    if (answer && isReady?.(reasons)) return 'ready';
    last = reasons.join(' ');
    if (last !== shown && elapsedMs() > QUIET_START_MS) onWaiting?.((shown = last));
    await delay(READY_POLL_MS);
  }
  return last;
}

/** The reasons of an answer of /readyz; the answer itself where it has none. */
function reasonsIn(answer: string): string[] {
  try {
    const { reasons = [] } = JSON.parse(answer) as { reasons?: string[] };
    return reasons.length > 0 ? reasons : [answer];
  } catch {
    return [answer];
  }
}

/** Ctrl-C stops the service in order; this process ends when the service has. A launcher may repeat the signal. */
function passSignals(child: ChildProcess): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill('SIGTERM'));
}

async function stop(child: ChildProcess, ended: Promise<void>, elapsedMs: () => number): Promise<void> {
  child.kill('SIGTERM');
  while (child.exitCode === null && child.signalCode === null) {
    if (elapsedMs() > STOP_WAIT_MS) child.kill('SIGKILL');
    await Promise.race([ended, delay(STOP_POLL_MS, undefined, { ref: false })]);
  }
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-8).join('\n');
}

/**
 * The wanted port if nobody listens on it, else a free one outside the range from which the system assigns ports: it
 * could assign a port of that range to another socket before the caller listens. Each process tries other ports first.
 */
export async function freePort(wanted = 0): Promise<number> {
  if (wanted > 0 && (await canListen(wanted))) return wanted;
  for (;;) {
    const port = FIRST_PORT + ((process.pid * PORTS_PER_PROCESS + portsTried++) % NUMBER_OF_PORTS);
    if (await canListen(port)) return port;
  }
}

let portsTried = 0;

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', (cause: NodeJS.ErrnoException) =>
      cause.code === 'EADDRINUSE' || cause.code === 'EACCES' ? resolve(false) : reject(cause),
    );
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
