import { useSandbox } from '../../audio/sandbox/sandbox.ts';
import { readConfig } from '../../config/settings.ts';
import { systemClock } from '../../platform/clock.ts';
import { openLog } from '../../platform/log.ts';
import { connectionShare } from '../../rules/network/connection-share.ts';
import type { ProcessName, StartOrder, ToChild, ToParent } from '../messages.ts';
import type { RoleContext, RoleModule, RunningRole } from './role.ts';

const MODULES: Record<ProcessName, () => Promise<RoleModule>> = {
  http: () => import('./api.ts'),
  transcriber: () => import('./transcriber.ts'),
  deliverer: () => import('./deliverer.ts'),
  janitor: () => import('./janitor.ts'),
};

// Longer than between two statements of a busy process, shorter than others wait for a connection.
const SHARED_IDLE_TIMEOUT_MS = 1_000;

let hasFailed = false;

/**
 * Runs a role's process: load the code, wait for the order, start the role, stop on `stop`. It ignores signals, which the
 * parent handles: Ctrl-C reaches every process of the group, and a role that ended on it would count as crashed.
 */
async function main(name: ProcessName): Promise<void> {
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  const inbox = openInbox();
  const config = readConfig();
  const log = openLog(config.logLevel, { role: name });
  const module = await MODULES[name]();
  const { openDatabase } = await import('../../db/database.ts');
  const order = await inbox.order;
  if (!order) return;
  if (order.sandbox) useSandbox(order.sandbox);

  const db = openDatabase(order.databaseUrl, {
    maxConnections: connectionShare(name, order.maxConnections ?? null),
    // Behind a pooler that pools by session, idle connections are missing elsewhere.
    ...(order.maxConnections && { idleTimeoutMs: SHARED_IDLE_TIMEOUT_MS }),
    ...(order.databaseDirectUrl && { directUrl: order.databaseDirectUrl }),
    plansOnce: module.plansOnce ?? false,
    onConnectionLost: (cause) => log.warn({ err: cause }, 'database connection lost'),
  });
  const context: RoleContext = {
    config,
    log,
    clock: systemClock,
    report: (status) => send({ kind: 'status', status }),
    order,
    db,
    fail(message) {
      hasFailed = true;
      send({ kind: 'fatal', message });
    },
    onMessage: inbox.onMessage,
    send,
  };
  const role = await module.start(context);
  inbox.onMessage((message) => {
    if (message.kind === 'metrics-wanted') void answerMetrics(role, message.requestId);
  });

  await inbox.stopped;
  await role.stop();
  await db.close();
}

async function answerMetrics(role: RunningRole, requestId: number): Promise<void> {
  send({ kind: 'metrics', requestId, snapshot: await role.metrics() });
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
