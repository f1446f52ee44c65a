import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openDatabase } from '../../src/db/database.ts';
import { type DemoService, freePort, startService } from '../../src/demo/service.ts';
import { isOfKind, isReady, openOutside, settingsFor, type Victim } from '../faults/service-under-load.ts';
import { machineTime } from '../fixtures/machine-time.ts';
import { descendantsOf, isAlive } from '../fixtures/processes/process-list.ts';
import { openSpeechServer, type SpeechServer } from '../fixtures/servers/speech-server.ts';
import { temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import type { Receiver } from '../fixtures/webhooks/receiver.ts';

/** What the rate limit of new live sessions is in the cluster: the one that the clients reach. */
export const RATE_LIMIT = { count: 10, windowMs: 30_000 };
/** A second of audio costs a credit. */
const CREDITS_PER_MINUTE = '60';
const TEXT = 'the old ship left the harbour before dawn';
export const SPOKEN = { body: JSON.stringify({ text: TEXT, language: 'english', segments: [] }) };

const ADMIN_TOKEN = 'operator-of-the-two-nodes-of-one-database';
const READY_MS = 120_000;

const SETTINGS = {
  ADMIN_TOKEN,
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  AUDIO_RETENTION_HOURS: '24',
  CREDIT_RATE_PRO: CREDITS_PER_MINUTE,
  TRANSCRIBE_CONCURRENCY: '4',
  MIN_FREE_DISK_BYTES: '1048576',
  MAX_UPLOADS_PER_ACCOUNT: '50',
  RATE_LIMIT_BALANCE: 'off',
  RATE_LIMIT_JOBS: 'off',
  RATE_LIMIT_LIVE: `${RATE_LIMIT.count}/${RATE_LIMIT.windowMs / 1000}`,
};

/** A node, whose service may be killed as a whole and started again. */
export type ClusterNode = {
  baseUrl: string;
  /** The processes of a role; all of the node without one. */
  pids(role?: Victim): number[];
  /** Starts its service where it has ended, and resolves when it is ready. */
  heal(): Promise<void>;
};

/** Two nodes with one PostgreSQL, one folder of audio and one speech server. */
export type Cluster = AsyncDisposable & {
  nodes: readonly ClusterNode[];
  admin: { authorization: string };
  engine: SpeechServer;
  postgres: Awaited<ReturnType<typeof openOutside>>;
  /** Ends all connections of the nodes. */
  cutConnections(): Promise<void>;
  /** The folder that is the nodes' audio storage. */
  audioDir: string;
};

/**
 * @param folder  an empty one, for all files of the cluster
 * @param env     further settings of both nodes
 */
export async function openCluster(
  receiver: Receiver,
  folder: string,
  env: Record<string, string> = {},
): Promise<Cluster> {
  const audioDir = path.join(folder, 'audio');
  mkdirSync(audioDir, { mode: 0o700 });
  chmodSync(folder, 0o711);
  const engine = await openSpeechServer(SPOKEN);
  const postgres = await openOutside(path.join(folder, 'postgres'), { max_connections: '150' });
  // The power of the disk with the cluster's folder may be cut.
  const outside = temporaryFolder();
  const shared = {
    ...settingsFor(receiver, outside),
    ...SETTINGS,
    DATABASE_URL: postgres.url(),
    ENGINE_LITE: `openai:${engine.baseUrl}`,
    ENGINE_PRO: `openai:${engine.baseUrl}`,
    ...env,
  };
  // Every start adds listeners that forward signals to its service.
  process.setMaxListeners(0);
  const nodes: (ClusterNode & AsyncDisposable)[] = [];
  // One after the other: the first migrates the database.
  for (const name of ['a', 'b']) nodes.push(await openNode(path.join(folder, name), audioDir, shared));
  return {
    nodes,
    engine,
    postgres,
    audioDir,
    admin: { authorization: `Bearer ${ADMIN_TOKEN}` },
    async cutConnections() {
      const db = openDatabase(postgres.url(), { maxConnections: 1 });
      await db.rows({
        text: `select pg_terminate_backend(pid) from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      });
      await db.close();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
      await postgres.stop();
      await engine[Symbol.asyncDispose]();
      rmSync(outside, { recursive: true });
    },
  };
}

async function openNode(
  dataDir: string,
  audioDir: string,
  env: Record<string, string>,
): Promise<ClusterNode & AsyncDisposable> {
  mkdirSync(dataDir, { mode: 0o700 });
  symlinkSync(audioDir, path.join(dataDir, 'audio'));
  writeFileSync(path.join(dataDir, 'admin-token'), ADMIN_TOKEN);
  const port = await freePort();
  let service: DemoService = await startService({ dataDir, port, env, stopwatch: machineTime });
  return {
    baseUrl: service.baseUrl,
    pids(role = 'everything') {
      const below = descendantsOf(service.pid);
      if (role === 'everything') return [service.pid, ...below.map(({ pid }) => pid)];
      return below.filter((entry) => isOfKind(entry, role)).map(({ pid }) => pid);
    },
    async heal() {
      const start = () => startService({ dataDir, port, env, stopwatch: machineTime }).catch(() => null);
      // On a busy machine a start may take longer than is waited for.
      if (!isAlive(service.pid)) service = await until('a start of the service', start, READY_MS);
      await until('readiness', () => isReady(service.baseUrl), READY_MS);
    },
    [Symbol.asyncDispose]: () => service.stop(),
  };
}
