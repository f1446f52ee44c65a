import { useSandbox } from '../../audio/sandbox/sandbox.ts';
import { readConfig } from '../../config/settings.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { systemClock } from '../../platform/clock.ts';
import { type Log, openLog } from '../../platform/log.ts';
import { type Metrics, openMetrics, snapshotMetrics } from '../../platform/metrics.ts';
import { openTracer } from '../../platform/tracing/open-tracer.ts';
import { connectionShare, type Part } from '../../rules/network/connection-share.ts';
import type { StartOrder, ToChild, ToParent } from '../messages.ts';
import type { RoleContext, RoleDatabase, RoleModule, RunningRole } from './role.ts';

const MODULES = {
  http: () => import('./api.ts'),
  janitor: () => import('./janitor.ts'),
  transcriber: () => import('./transcriber.ts'),
  deliverer: () => import('./deliverer.ts'),
} satisfies Record<Part, () => Promise<RoleModule>>;

// V8 keeps what the start of a process has left, 10 MB: one collection after it returns that to the system.
const COLLECT_AFTER_MS = 5_000;
// Longer than between two statements of a busy process, shorter than others wait for a connection.
const SHORT_IDLE_TIMEOUT_MS = 1_000;

let hasFailed = false;

/**
 * Runs a process of the node: load the code, wait for the order, start the parts, stop on `stop`. It ignores signals,
 * which the parent handles: Ctrl-C reaches every process of the group, and a role that ended on it would count as
 * crashed.
 */
async function main(parts: Part[]): Promise<void> {
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  const inbox = openInbox();
  const config = readConfig();
  const modules: RoleModule[] = await Promise.all(parts.map((part) => MODULES[part]()));
  const log = openLog(config.logLevel, {}, config.logFormat);
  const metrics = openMetrics();
  const tracer = await openTracer(config.otlpEndpoint);
  const order = await inbox.order;
  if (!order) return;
  if (order.sandbox) useSandbox(order.sandbox);

  const pools = openPools(parts, modules, order, log);
  const running: RunningRole[] = [];
  for (const [index, part] of parts.entries()) {
    const context: RoleContext = {
      config,
      order,
      metrics,
      tracer,
      send,
      db: pools.get(part)!,
      log: log.child({ role: part }),
      clock: systemClock,
      report: (status) => send({ kind: 'status', part, status }),
      fail(message) {
        hasFailed = true;
        send({ kind: 'fatal', message });
      },
      onMessage: inbox.onMessage,
    };
    running.push(await modules[index]!.start(context));
  }
  inbox.onMessage((message) => {
    if (message.kind === 'metrics-wanted') void answerMetrics(metrics, running, message.requestId);
  });

  setTimeout(() => globalThis.gc?.({ type: 'major', flavor: 'last-resort' }), COLLECT_AFTER_MS).unref();

  await inbox.stopped;
  await Promise.all(running.map((role) => role.stop()));
  await tracer.close();
  await Promise.all(new Set(pools.values()).values().map((db) => db.close()));
}

/** A pool for the janitor, and one for all other parts of the process: it needs one connection for LISTEN. */
function openPools(parts: Part[], modules: RoleModule[], order: StartOrder, log: Log): Map<Part, Database> {
  const intervalsMs = modules.flatMap(({ notifyIntervalMs }) => notifyIntervalMs ?? []);
  const options: RoleDatabase = {
    plansOnce: modules.some((module) => module.plansOnce),
    ...(intervalsMs.length > 0 && { notifyIntervalMs: Math.max(...intervalsMs) }),
  };
  const sharing = parts.filter((part) => part !== 'janitor');
  const shared = openPool(sharing, options, order, log);
  return new Map(parts.map((part) => [part, part === 'janitor' ? openPool([part], {}, order, log) : shared]));
}

function openPool(parts: Part[], options: RoleDatabase, order: StartOrder, log: Log): Database {
  const shares = parts.map((part) => connectionShare(part, order.maxConnections ?? null));
  return openDatabase(order.databaseUrl, {
    maxConnections: shares.reduce((sum, share) => sum + share, 0),
    // A pooler that pools by session cannot give idle connections to other processes. The janitor's tasks run a minute
    // apart, and PostgreSQL keeps 4 to 5 MB for each connection.
    ...((order.maxConnections || parts.includes('janitor')) && { idleTimeoutMs: SHORT_IDLE_TIMEOUT_MS }),
    ...(order.databaseDirectUrl && { directUrl: order.databaseDirectUrl }),
    ...options,
    onConnectionLost: (cause) => log.warn({ role: parts.join(), err: cause }, 'database connection lost'),
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

main(process.argv.slice(2) as Part[]).then(
  () => process.exit(0),
  (error: unknown) => {
    // The parent has printed the message of a fatal error.
    if (!hasFailed) console.error(error);
    process.exit(1);
  },
);
