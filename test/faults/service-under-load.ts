import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { socketFolder } from '../../src/db/embedded/place.ts';
import { serviceUrl } from '../../src/db/embedded/role.ts';
import { type EmbeddedDatabase, startEmbedded } from '../../src/db/embedded/server.ts';
import { type DemoService, freePort, startService } from '../../src/demo/service.ts';
import { TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { machineTime } from '../fixtures/machine-time.ts';
import { descendantsOf, isAlive, type ProcessEntry } from '../fixtures/processes/process-list.ts';
import { COMPILED, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { type Receiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

export const DATABASES = ['embedded', 'external'] as const;
export type DatabaseKind = (typeof DATABASES)[number];

export const VICTIMS = ['http', 'transcriber', 'deliverer', 'postgres', 'everything'] as const;
/** For live sessions: `engine` are the engine processes of `http`. */
export const LIVE_VICTIMS = ['http', 'engine', 'postgres', 'everything'] as const;
export type Victim = (typeof VICTIMS)[number] | (typeof LIVE_VICTIMS)[number];

export type ServiceUnderLoad = AsyncDisposable & {
  baseUrl: string;
  adminToken: string;
  /** For queries of the test. */
  databaseUrl: string;
  /** Sends SIGKILL to every process of that kind. False when none is running. */
  kill(victim: Victim): Promise<boolean>;
  /** The processes of that kind, to be stopped or continued. */
  find(victim: Victim): number[];
  /** PostgreSQL with all its sessions. */
  findDatabase(): number[];
  /** Shuts an external PostgreSQL down; resolves to a function that starts it again. */
  stopDatabase(): Promise<() => Promise<void>>;
  dataDir: string;
  logText(): string;
  /** Starts another node on the same database with these roles; on the same data directory unless `files` names one. */
  addNode(roles: string, files?: string): Promise<DemoService>;
  /** The processes of the service, its parent first; without PostgreSQL. */
  servicePids(): number[];
  /** Resolves when /readyz answers 200 again. */
  recovered(): Promise<void>;
};

const PROCESS_END_MS = 20_000;

/**
 * A running service whose processes may be killed at any time. The service's parent process and an external PostgreSQL
 * are started again here; the parent starts all other processes again.
 */
export async function openServiceUnderLoad(
  kind: DatabaseKind,
  receiver: Receiver,
  env: Record<string, string> = {},
  dataDir = temporaryFolder(),
): Promise<ServiceUnderLoad> {
  const outside = kind === 'external' ? await openOutside(path.join(dataDir, 'outside')) : null;
  const port = await freePort();
  // Every start adds listeners that forward signals to its service.
  process.setMaxListeners(0);
  const settings = { ...settingsFor(receiver, dataDir), ...(outside && { DATABASE_URL: outside.url() }), ...env };
  const open = () => startService({ dataDir, port, env: settings, stopwatch: machineTime });
  let service: DemoService = await open();
  const nodes: DemoService[] = [];

  function find(victim: Victim): number[] {
    if (victim === 'postgres' && outside) return [outside.pid()];
    const below = descendantsOf(service.pid);
    if (victim === 'everything') return [service.pid, ...below.map(({ pid }) => pid)];
    if (victim === 'engine') {
      const http = below.filter((entry) => isOfKind(entry, 'http'));
      return http.flatMap(({ pid }) => below.filter((entry) => entry.parent === pid).map((engine) => engine.pid));
    }
    return below.filter((entry) => isOfKind(entry, victim)).map(({ pid }) => pid);
  }

  async function kill(victim: Victim): Promise<boolean> {
    const pids = find(victim);
    if (pids.length === 0) return false;
    if (victim === 'everything' && outside) pids.push(outside.pid());
    for (const pid of pids) killOne(pid);
    if (outside && (victim === 'postgres' || victim === 'everything')) await outside.startAgain();
    if (victim === 'everything') {
      await until('the end of every process', () => !pids.some(isAlive), PROCESS_END_MS);
      service = await open();
    }
    return true;
  }

  return {
    get baseUrl() {
      return service.baseUrl;
    },
    get adminToken() {
      return service.adminToken;
    },
    get databaseUrl() {
      return outside?.url() ?? embeddedUrl(dataDir);
    },
    kill,
    find,
    dataDir,
    findDatabase: () => find('postgres').flatMap((pid) => [pid, ...descendantsOf(pid).map((child) => child.pid)]),
    async stopDatabase() {
      await outside!.stop();
      return () => outside!.startAgain();
    },
    logText: () => readFileSync(path.join(dataDir, 'service.log'), 'utf8'),
    async addNode(roles, files = dataDir) {
      const node = await startService({
        dataDir: files,
        port: await freePort(),
        env: { ...settings, ROLES: roles },
        stopwatch: machineTime,
      });
      nodes.push(node);
      return node;
    },
    servicePids: () => [service.pid, ...roleProcessesOf(service)],
    async recovered() {
      await until('readiness', () => isReady(service.baseUrl), 60_000);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([service, ...nodes].map((node) => node.stop()));
      await outside?.stop();
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

function roleProcessesOf({ pid }: DemoService): number[] {
  const roles = descendantsOf(pid).filter(isRole);
  return roles.map((role) => role.pid);
}

/** Settings of a service whose webhooks are at the receiver. */
export function settingsFor(receiver: Receiver, dataDir: string): Record<string, string> {
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  return {
    ...COMPILED,
    LOG_LEVEL: 'warn',
    AUDIO_RETENTION_HOURS: '0',
    ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
    // A transcriber hands its jobs back, and starts anew, when a model arrives.
    MODEL_DOWNLOAD: 'off',
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
    NODE_EXTRA_CA_CERTS: caFile,
    WEBHOOK_RETRY_DELAYS: '0,1,2,4',
    WEBHOOK_TIMEOUT_MS: '2000',
    WEBHOOK_DISABLE_FAILURES: '1000000',
    RATE_LIMIT_TRANSCRIBE: 'off',
    RATE_LIMIT_DEFAULT: 'off',
    RATE_LIMIT_RESEND: 'off',
  };
}

/** Whether a process below a service is of that kind. */
export function isOfKind(entry: ProcessEntry, victim: Victim): boolean {
  if (victim === 'postgres') return entry.arguments[0]?.endsWith('/postgres') ?? false;
  return isRole(entry) && entry.arguments.includes(victim);
}

function isRole({ arguments: args }: ProcessEntry): boolean {
  return args.some((argument) => /\/role-process\.js$/.test(argument));
}

export async function isReady(baseUrl: string): Promise<boolean> {
  const answer = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
  return answer?.ok ?? false;
}

export function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process ended before the kill.
  }
}

function embeddedUrl(dataDir: string): string {
  const dir = path.join(dataDir, 'database');
  return serviceUrl(dir, socketFolder(dir));
}

/** An external PostgreSQL, which its operator starts again. */
export async function openOutside(dir: string, postgres: Record<string, string> = {}) {
  mkdirSync(dir, { recursive: true });
  const log = { debug() {}, warn() {} };
  const start = (): Promise<EmbeddedDatabase> => startEmbedded({ dir, log, settings: postgres });
  let server = await start();
  return {
    url: () => server.url,
    pid: () => server.pid,
    async startAgain() {
      await until('the end of PostgreSQL', () => !isAlive(server.pid), PROCESS_END_MS);
      // The directory is released a moment after the process has ended.
      server = await until('a new PostgreSQL', () => start().catch(() => null));
    },
    stop: () => server.stop(),
  };
}
