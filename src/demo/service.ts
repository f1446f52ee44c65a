import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const READY_WAIT_MS = 60_000;
const READY_POLL_MS = 25;
const STOP_WAIT_MS = 15_000;

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

/**
 * Starts the service in a separate process and waits until it is ready. Its log goes to `service.log` in the data directory.
 * @throws Error  with the last lines of that log when it ends early or does not become ready
 */
export async function startService(options: {
  dataDir: string;
  port: number;
  env: Record<string, string>;
}): Promise<DemoService> {
  const logFile = path.join(options.dataDir, 'service.log');
  const log = openSync(logFile, 'a');
  const main = new URL('../processes/main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main], {
    // The service stops when this channel closes, so it never outlives this process.
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...process.env, DATA_DIR: options.dataDir, HOST: '127.0.0.1', PORT: String(options.port), ...options.env },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const baseUrl = `http://127.0.0.1:${options.port}`;
  const service: DemoService = {
    pid: child.pid!,
    exitCode: () => child.exitCode,
    baseUrl,
    adminToken: '',
    ended,
    stop: () => stop(child, ended),
  };
  passSignals(child);

  const outcome = await Promise.race([untilReady(baseUrl, child), ended.then(() => 'ended' as const)]);
  if (outcome !== 'ready') {
    await service.stop();
    throw new Error(`The service did not become ready (${outcome}). The end of ${logFile}:\n${lastLines(logFile)}`);
  }
  service.adminToken = readFileSync(path.join(options.dataDir, 'admin-token'), 'utf8').trim();
  return service;
}

async function untilReady(baseUrl: string, child: ChildProcess): Promise<'ready' | string> {
  const giveUpAtMs = Date.now() + READY_WAIT_MS;
  let last = 'no answer';
  while (Date.now() < giveUpAtMs && child.exitCode === null && child.signalCode === null) {
    const answer = await fetch(`${baseUrl}/readyz`).catch(() => null);
    if (answer?.ok) return 'ready';
    if (answer) last = await answer.text();
    await delay(READY_POLL_MS);
  }
  return last;
}

/** Ctrl-C stops the service in order; this process ends when the service has. A launcher may repeat the signal. */
function passSignals(child: ChildProcess): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill('SIGTERM'));
}

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGTERM');
  const tooLate = delay(STOP_WAIT_MS, undefined, { ref: false }).then(() => child.kill('SIGKILL'));
  await Promise.race([ended, tooLate]);
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-8).join('\n');
}

/** The port if nobody listens on it, else one that the system picks. */
export async function freePort(wanted: number): Promise<number> {
  const tryPort = (port: number) =>
    new Promise<number | null>((resolve) => {
      const server = net.createServer();
      server.once('error', () => resolve(null));
      server.listen(port, '127.0.0.1', () => {
        const taken = (server.address() as net.AddressInfo).port;
        server.close(() => resolve(taken));
      });
    });
  return (await tryPort(wanted)) ?? (await tryPort(0))!;
}
