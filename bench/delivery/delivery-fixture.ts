import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { prepareBundle } from '../../bin/prepare/bundle.js';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/schema/migrate.ts';
import { makeCertificates } from '../../src/demo/certificates.ts';
import { ROOT } from '../../src/platform/installation.ts';
import { temporaryFolder } from '../../test/fixtures/service.ts';
import { startDatabase } from '../database.ts';
import { nowMs } from '../figures.ts';
import { type BenchWebhook, insertDeliveries, makeWebhooks } from './delivery-environment.ts';
import type { Arrival, FromWatcher } from './watching-receiver.ts';

const SECRETS_KEY = Buffer.alloc(32, 7);
const CONNECTIONS = 10;
const TICK_MS = 50;
const BODY_BYTES = 1_024;

export type Watcher = {
  port: number;
  pid: number;
  url(path: string): string;
  /** The same at 32 addresses: attempts at one host share its connections. */
  urlsOfMany(path: string): string[];
  /** Requests since the last call. */
  take(): Promise<Arrival[]>;
};
export type RunningDeliverer = { pid: number; stop(): Promise<void>; peakMiB(): number };

const MANY_HOSTS = Array.from({ length: 32 }, (_, at) => `127.0.1.${at + 1}`);

/** An embedded PostgreSQL, receivers and deliverers, each in a process of its own, in a temporary folder. */
export async function openDeliveryFixture() {
  const folder = temporaryFolder();
  const { cert, key, ca } = makeCertificates({ names: ['localhost'], addresses: ['127.0.0.1', ...MANY_HOSTS] });
  const write = (name: string, content: string | Buffer) => {
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };
  const files = { cert: write('cert.pem', cert), key: write('key.pem', key), ca: write('ca.pem', ca) };
  const server = await startDatabase({ dir: path.join(folder, 'database') });
  const db = openDatabase(server.url, { maxConnections: CONNECTIONS });
  await migrate(db);
  const children: ChildProcess[] = [];

  async function openWatcher(manner: 'answering' | 'silent' = 'answering'): Promise<Watcher> {
    const args = [files.cert, files.key, manner];
    const child = fork(here('watching-receiver.ts'), args, { serialization: 'advanced' });
    children.push(child);
    const [{ port }] = (await once(child, 'message')) as [FromWatcher & { kind: 'listening' }];
    return watcherOf(child, port);
  }

  /**
   * The deliverer's own process, with its info log in a file.
   * @param ports  of 127.0.0.0/8 that webhooks may point to
   */
  async function startDeliverer(ports: number[], env: Record<string, string> = {}): Promise<RunningDeliverer> {
    const log = openSync(path.join(folder, 'deliverer.log'), 'a');
    const child = fork(path.join(prepareBundle(ROOT), 'role-process.js'), ['deliverer'], {
      stdio: ['ignore', log, 'inherit', 'ipc'],
      serialization: 'advanced',
      env: {
        ...process.env,
        DATA_DIR: folder,
        WEBHOOK_ALLOWED_TARGETS: ports.map((port) => `127.0.0.0/8:${port}`).join(),
        NODE_EXTRA_CA_CERTS: files.ca,
        ...env,
      },
    });
    const secretsKeysBase64 = SECRETS_KEY.toString('base64');
    child.send({ kind: 'start', order: { databaseUrl: server.url, adminToken: 'x'.repeat(32), secretsKeysBase64 } });
    await once(child, 'message');
    return {
      pid: child.pid!,
      peakMiB: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
      async stop() {
        const gone = once(child, 'exit');
        child.send({ kind: 'stop' });
        await gone;
      },
    };
  }

  return {
    folder,
    files,
    db,
    server,
    openWatcher,
    startDeliverer,
    webhooks: (accounts: number, webhooksEach: number, urls: string[]) =>
      db.transaction((tx) => makeWebhooks(tx, { accounts, webhooksEach, urls, secretsKey: SECRETS_KEY })),
    /** Settles all open deliveries, so that each scenario starts without any. */
    async clear() {
      await db.run({ text: 'truncate accounts, webhooks, events, deliveries, attempts' });
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) child.disconnect();
      await db.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function watcherOf(child: ChildProcess, port: number): Watcher {
  return {
    port,
    pid: child.pid!,
    url: (name) => `https://127.0.0.1:${port}${name}`,
    urlsOfMany: (name) => MANY_HOSTS.map((host) => `https://${host}:${port}${name}`),
    async take() {
      const answered = once(child, 'message');
      child.send('take');
      const [{ arrivals }] = (await answered) as [FromWatcher & { kind: 'arrivals' }];
      return arrivals;
    },
  };
}

/**
 * Commits events at a steady rate for the webhooks in turn, whether or not they are delivered.
 * @returns when each was committed, by its id
 */
export async function emitSteadily(
  db: Database,
  { webhooks, perSecond, seconds }: { webhooks: BenchWebhook[]; perSecond: number; seconds: number },
): Promise<Map<string, number>> {
  const committed = new Map<string, number>();
  const commits: Promise<void>[] = [];
  const startedAtMs = nowMs();
  let emitted = 0;
  for (let tick = 1; tick * TICK_MS <= seconds * 1000; tick++) {
    const count = Math.floor((perSecond * tick * TICK_MS) / 1000) - emitted;
    const turn = Array.from({ length: count }, (_, at) => webhooks[(emitted + at) % webhooks.length]!);
    emitted += count;
    if (count > 0) commits.push(commit(turn));
    await delay(Math.max(0, startedAtMs + tick * TICK_MS - nowMs()));
  }
  await Promise.all(commits);
  return committed;

  async function commit(turn: BenchWebhook[]): Promise<void> {
    const ids = await insertDeliveries(db, { webhooks: turn, count: turn.length, bodyBytes: BODY_BYTES });
    const atMs = nowMs();
    for (const id of ids) committed.set(id, atMs);
  }
}

/**
 * From the commit of each event to its first attempt at the receiver, in ms;
 * events that never arrived are counted separately.
 */
export function waitsOf(committed: Map<string, number>, arrivals: Arrival[]): { waits: number[]; missing: number } {
  const first = new Map<string, number>();
  for (const { eventId, atMs } of arrivals) if (!first.has(eventId)) first.set(eventId, atMs);
  const waits = [...committed].flatMap(([id, atMs]) => (first.has(id) ? [first.get(id)! - atMs] : []));
  return { waits, missing: committed.size - waits.length };
}

function here(file: string): string {
  return new URL(file, import.meta.url).pathname;
}
