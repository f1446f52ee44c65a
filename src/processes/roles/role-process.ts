import { useSandbox } from '../../audio/sandbox/sandbox.ts';
import type { Config } from '../../config/settings.ts';
import { readConfig } from '../../config/settings.ts';
import type { Database } from '../../db/database.ts';
import { openDatabase } from '../../db/database.ts';
import { systemClock } from '../../platform/clock.ts';
import { collectWhenIdle } from '../../platform/garbage-collection.ts';
import type { Log } from '../../platform/log.ts';
import { openLog } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { openMetrics, snapshotMetrics } from '../../platform/metrics.ts';
import type { Sharer } from '../../rules/network/connection-share.ts';
import { connectionShare } from '../../rules/network/connection-share.ts';
import type { ProcessName, StartOrder, ToChild, ToParent } from '../messages.ts';
import type { RoleContext, RoleDatabase, RoleModule, RunningRole } from './role.ts';

const MODULES = {
  http: () => import('./api.ts'),
  janitor: () => import('./janitor.ts'),
  transcriber: () => import('./transcriber.ts'),
  deliverer: () => import('./deliverer.ts'),
} satisfies Record<Sharer, () => Promise<RoleModule>>;

// Longer than between two statements of a busy process, shorter than others wait for a connection.
const SHORT_IDLE_TIMEOUT_MS = 1_000;

let hasFailed = false;

/**
 * Runs a process of the node: load the code, wait for the order, start the roles, stop on `stop`. It ignores signals,
 * which the parent handles: Ctrl-C reaches every process of the group, and a role that ended on it would count as crashed.
 */
async function main(name: ProcessName): Promise<void> {
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  const inbox = openInbox();
  const config = readConfig();
  const parts = partsOf(name, config);
  const modules: RoleModule[] = await Promise.all(parts.map((part) => MODULES[part]()));
  const log = openLog(config.logLevel);
  const metrics = openMetrics();
  const order = await inbox.order;
  if (!order) return;
  if (order.sandbox) useSandbox(order.sandbox);

  const running: (RunningRole & { db: Database })[] = [];
  for (const [index, part] of parts.entries()) {
    const { start, plansOnce = false, notifyIntervalMs } = modules[index]!;
    const partLog = log.child({ role: part });
    const db = openPool(part, { plansOnce, ...(notifyIntervalMs && { notifyIntervalMs }) }, order, partLog);
    const context: RoleContext = {
      ...{ config, order, db, metrics, send },
      log: partLog,
      clock: systemClock,
      report: (status) => send({ kind: 'status', status }),
      fail(message) {
        hasFailed = true;
        send({ kind: 'fatal', message });
      },
      onMessage: inbox.onMessage,
    };
    running.push({ ...(await start(context)), db });
  }
  inbox.onMessage((message) => {
    if (message.kind === 'metrics-wanted') void answerMetrics(metrics, running, message.requestId);
  });

  collectWhenIdle();

  await inbox.stopped;
  await Promise.all(
    running.map(async (role) => {
      await role.stop();
      await role.db.close();
    }),
  );
}

/** What runs in the process, in the order of the start; each has a pool of its own. */
function partsOf(name: ProcessName, { roles }: Config): Sharer[] {
  return name === 'http' && roles.includes('janitor') ? ['http', 'janitor'] : [name];
}

function openPool(part: Sharer, options: RoleDatabase, order: StartOrder, log: Log): Database {
  return openDatabase(order.databaseUrl, {
    maxConnections: connectionShare(part, order.maxConnections ?? null),
    // Behind a pooler that pools by session, idle connections are missing elsewhere. The janitor's tasks run a minute apart,
    // and PostgreSQL keeps 4 to 5 MB for each connection.
    ...((order.maxConnections || part === 'janitor') && { idleTimeoutMs: SHORT_IDLE_TIMEOUT_MS }),
    ...(order.databaseDirectUrl && { directUrl: order.databaseDirectUrl }),
    ...options,
    onConnectionLost: (cause) => log.warn({ err: cause }, 'database connection lost'),
  });
}

async function answerMetrics(metrics: Metrics, roles: RunningRole[], requestId: number): Promise<void> {
  await Promise.all(roles.map((role) => role.measure?.()));
  send({ kind: 'metrics', requestId, snapshot: await snapshotMetrics(metrics) });
}

/** Dispatches the parent's messages. When the parent has ended, the process stops. */
function openInbox() {
  const order = Promise.withResolvers<StartOrder | null>();
  const stopped = Promise.withResolvers<void>();
  const handlers: ((message: ToChild) => void)[] = [];
  const stop = () => {
    order.resolve(null);
    stopped.resolve();
  };
  process.on('disconnect', stop);
  process.on('message', (message: ToChild) => {
    if (message.kind === 'start') order.resolve(message.order);
    else if (message.kind === 'stop') stop();
    for (const handler of handlers) handler(message);
  });
  return {
    order: order.promise,
    stopped: stopped.promise,
    onMessage: (handler: (message: ToChild) => void) => void handlers.push(handler),
  };
}

function send(message: ToParent): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

main(process.argv[2] as ProcessName).then(
  () => process.exit(0),
  (error: unknown) => {
    // The parent has printed the message of a fatal error.
    if (!hasFailed) console.error(error);
    process.exit(1);
  },
);
