import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { roleEnvironment } from '../config/settings.ts';
import type { Log } from '../platform/log.ts';
import type { MetricsSnapshot, ProcessName, RoleStatus, StartOrder, ToChild, ToParent } from './messages.ts';
import { PREPARE_EARLY, starting } from './messages.ts';

// A role that crashes at once is tried again at this pace: soon at first, never in a busy loop.
const FIRST_RESTART_DELAY_MS = 100;
const LONGEST_RESTART_DELAY_MS = 5_000;
// A role that lived this long has recovered: its next crash is restarted soon again.
const RECOVERED_AFTER_MS = 30_000;
const METRICS_WAIT_MS = 2_000;
// The http process says when the buffers of uploads are to be collected: runtime/spent-bytes.ts.
const NODE_OPTIONS: Partial<Record<ProcessName, string[]>> = { http: ['--expose-gc'] };

type Member = {
  name: ProcessName;
  child: ChildProcess | null;
  /** Null until it was given its order. */
  holder: string | null;
  status: RoleStatus;
  startedAtMs: number;
  restartDelayMs: number;
  restartTimer?: NodeJS.Timeout;
};

type MetricsRound = { asker: Member; askerRequestId: number; waitingFor: Set<Member>; snapshots: MetricsSnapshot[] };

/** What every process of the node is told, and the name of the node. */
export type NodeOrder = Omit<StartOrder, 'holder'> & { nodeId: string };

export type Supervisor = {
  /** Hands every process its order; until then they load their code and wait. */
  start(order: NodeOrder): void;
  /** Asks every process to stop and kills what still lives after `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>;
};

/**
 * Runs one process per role and restarts what crashes. The processes are forked at once, so that their code loads
 * while the database starts; they talk to the parent only (statuses, metrics, stop).
 */
export function superviseRoles(
  names: ProcessName[],
  options: {
    entry: URL;
    preparesEarly: boolean;
    log: Log;
    onFatal: (message: string) => void;
    /** Told when a process ended that may have held leases, before another takes its place. */
    onHolderEnded?: (holder: string) => void;
  },
): Supervisor {
  const { entry, preparesEarly, log, onFatal, onHolderEnded } = options;
  let order: NodeOrder | null = null;
  let stopping = false;
  let nextMetricsRound = 1;
  const metricsRounds = new Map<number, MetricsRound>();
  const members = names.map(
    (name): Member => ({ name, child: null, holder: null, status: starting(name), startedAtMs: 0, restartDelayMs: 0 }),
  );
  for (const member of members) launch(member);

  function launch(member: Member): void {
    member.startedAtMs = Date.now();
    let child: ChildProcess;
    try {
      child = forkRole(member.name, entry, preparesEarly);
    } catch (error) {
      onEnd(member, { err: error });
      return;
    }
    child.on('error', (error) => {
      // Without a process id nothing was started, and no exit will follow.
      if (child.pid === undefined) onEnd(member, { err: error });
      else log.error({ role: member.name, err: error }, 'role process');
    });
    if (child.pid === undefined) return;
    member.child = child;
    child.on('message', (message) => onMessage(member, message as ToParent));
    child.once('exit', (code, signal) => onEnd(member, { code, signal }));
    if (order) giveOrder(member, order);
  }

  function giveOrder(member: Member, { nodeId, ...rest }: NodeOrder): void {
    member.holder = `${nodeId}/${randomUUID()}`;
    send(member, { kind: 'start', order: { ...rest, holder: member.holder } });
  }

  function onMessage(member: Member, message: ToParent): void {
    if (message.kind === 'fatal') onFatal(message.message);
    else if (message.kind === 'status') setStatus(member, message.status);
    else if (message.kind === 'metrics-of-all-wanted') gatherMetrics(member, message.requestId);
    else addSnapshot(member, message.requestId, message.snapshot);
  }

  function onEnd(member: Member, how: { code: number | null; signal: NodeJS.Signals | null } | { err: unknown }): void {
    member.child = null;
    if (member.holder !== null) onHolderEnded?.(member.holder);
    member.holder = null;
    for (const requestId of metricsRounds.keys()) addSnapshot(member, requestId, null);
    if (stopping) return;
    const livedMs = Date.now() - member.startedAtMs;
    member.restartDelayMs =
      livedMs > RECOVERED_AFTER_MS || member.restartDelayMs === 0
        ? FIRST_RESTART_DELAY_MS
        : Math.min(member.restartDelayMs * 2, LONGEST_RESTART_DELAY_MS);
    log.error({ role: member.name, ...how, restart_in_ms: member.restartDelayMs }, 'role process ended; restarting it');
    setStatus(member, { ready: false, reasons: [`The ${member.name} process crashed and is being restarted.`] });
    member.restartTimer = setTimeout(() => launch(member), member.restartDelayMs);
  }

  function setStatus(member: Member, status: RoleStatus): void {
    member.status = status;
    tellStatuses();
  }

  /** Only the http process answers /readyz, so it alone is told how the others fare. */
  function tellStatuses(): void {
    const statuses = Object.fromEntries(members.map(({ name, status }) => [name, status]));
    for (const member of members) if (member.name === 'http') send(member, { kind: 'statuses', statuses });
  }

  function gatherMetrics(asker: Member, askerRequestId: number): void {
    const requestId = nextMetricsRound++;
    const alive = members.filter((member) => member.child !== null);
    metricsRounds.set(requestId, { asker, askerRequestId, waitingFor: new Set(alive), snapshots: [] });
    for (const member of alive) send(member, { kind: 'metrics-wanted', requestId });
    setTimeout(() => finishMetrics(requestId), METRICS_WAIT_MS).unref();
  }

  function addSnapshot(member: Member, requestId: number, snapshot: MetricsSnapshot | null): void {
    const round = metricsRounds.get(requestId);
    if (!round?.waitingFor.delete(member)) return;
    if (snapshot !== null) round.snapshots.push(snapshot);
    if (round.waitingFor.size === 0) finishMetrics(requestId);
  }

  function finishMetrics(requestId: number): void {
    const round = metricsRounds.get(requestId);
    if (!round) return;
    metricsRounds.delete(requestId);
    send(round.asker, { kind: 'metrics-of-all', requestId: round.askerRequestId, snapshots: round.snapshots });
  }

  return {
    start(newOrder) {
      order = newOrder;
      for (const member of members) if (member.child) giveOrder(member, order);
      tellStatuses();
    },
    async stop(timeoutMs) {
      stopping = true;
      for (const member of members) clearTimeout(member.restartTimer);
      await Promise.all(members.map((member) => stopMember(member, timeoutMs)));
    },
  };
}

/** @throws Error  for some of the reasons why a process cannot be started; of the others, an event `error` tells */
function forkRole(name: ProcessName, entry: URL, preparesEarly: boolean): ChildProcess {
  return fork(entry, [name, ...(preparesEarly ? [PREPARE_EARLY] : [])], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
    env: roleEnvironment(),
    execArgv: [...process.execArgv, ...(NODE_OPTIONS[name] ?? [])],
  });
}

function send(member: Member, message: ToChild): void {
  // A child that is just dying has a closed channel; its exit is handled where it is seen.
  if (member.child?.connected) member.child.send(message, () => undefined);
}

async function stopMember(member: Member, timeoutMs: number): Promise<void> {
  const { child } = member;
  if (!child) return;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  send(member, { kind: 'stop' });
  const killTimer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  await exited;
  clearTimeout(killTimer);
}
