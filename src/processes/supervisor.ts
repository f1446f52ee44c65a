import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { roleEnvironment } from '../config/settings.ts';
import type { Log } from '../platform/log.ts';
import type { Part } from '../rules/network/connection-share.ts';
import { type RoleStatus, type StartOrder, starting, type ToChild, type ToParent } from './messages.ts';
import { MetricsRequests } from './metrics-requests.ts';

// The first restart follows soon; a process that keeps crashing is restarted after doubling delays.
const FIRST_RESTART_DELAY_MS = 100;
const LONGEST_RESTART_DELAY_MS = 5_000;
// After this time without a crash, the delay starts from the first one again.
const RECOVERED_AFTER_MS = 30_000;

type Member = {
  parts: Part[];
  child: ChildProcess | null;
  /** Null until the process was given its order. */
  holder: string | null;
  statuses: Map<Part, RoleStatus>;
  startedAtMs: number;
  restartDelayMs: number;
  restartTimer?: NodeJS.Timeout;
};

type HowEnded = { code: number | null; signal: NodeJS.Signals | null } | { err: unknown };

/** What every process of the node gets, and the name of the node. */
type NodeOrder = Omit<StartOrder, 'holder'> & { nodeId: string };

export type SupervisorOptions = {
  entry: URL;
  log: Log;
  onFatal: (message: string) => void;
  /** Called when a process ended that may have held leases, before it is started again. */
  onHolderEnded?: (holder: string) => void;
  /** Called once, when every part is ready for the first time, with what the parts report about themselves. */
  onReady?: (about: Partial<Record<Part, string>>) => void;
};

/**
 * Runs the processes of a node and restarts those that crash. The processes are forked by the constructor, so that
 * their code loads while the database starts. They exchange messages with the parent only: statuses, metrics, stop.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #members: Member[];
  readonly #metrics = new MetricsRequests<Member>(send);
  #order: NodeOrder | null = null;
  #isStopping = false;
  #wasReady = false;

  constructor(processes: Part[][], options: SupervisorOptions) {
    this.#options = options;
    this.#members = processes.map((parts) => ({
      parts,
      child: null,
      holder: null,
      statuses: new Map(parts.map((part) => [part, starting(part)])),
      startedAtMs: 0,
      restartDelayMs: 0,
    }));
    for (const member of this.#members) this.#launch(member);
  }

  /** Sends every process its order; until then the processes load their code and wait. */
  start(order: NodeOrder): void {
    this.#order = order;
    for (const member of this.#members) if (member.child) giveOrder(member, order);
    this.#sendStatuses();
  }

  /** Stops every process, and kills those that still run after `timeoutMs`. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true;
    for (const member of this.#members) clearTimeout(member.restartTimer);
    await Promise.all(this.#members.map((member) => stopMember(member, timeoutMs)));
  }

  #launch(member: Member): void {
    member.startedAtMs = Date.now();
    let child: ChildProcess;
    try {
      child = forkRole(member.parts, this.#options);
    } catch (error) {
      this.#onEnd(member, { err: error });
      return;
    }
    child.on('error', (error) => {
      // Without a process id nothing was started, and no `exit` follows.
      if (child.pid === undefined) this.#onEnd(member, { err: error });
      else this.#options.log.error({ role: nameOf(member), err: error }, 'role process');
    });
    if (child.pid === undefined) return;
    member.child = child;
    child.on('message', (message) => this.#onMessage(member, message as ToParent));
    child.once('exit', (code, signal) => this.#onEnd(member, { code, signal }));
    if (this.#order) giveOrder(member, this.#order);
  }

  #onMessage(member: Member, message: ToParent): void {
    if (message.kind === 'fatal') this.#options.onFatal(message.message);
    else if (message.kind === 'status') this.#setStatus(member, message.part, message.status);
    else if (message.kind === 'metrics') this.#metrics.add(member, message.requestId, message.snapshot);
    else
      this.#metrics.start(
        member,
        message.requestId,
        this.#members.filter(({ child }) => child !== null),
      );
  }

  #onEnd(member: Member, how: HowEnded): void {
    const { log, onHolderEnded } = this.#options;
    member.child = null;
    if (member.holder !== null) onHolderEnded?.(member.holder);
    member.holder = null;
    this.#metrics.leaveOut(member);
    if (this.#isStopping) return;
    member.restartDelayMs = nextRestartDelayMs(member);
    log.error(
      { role: nameOf(member), ...how, restart_in_ms: member.restartDelayMs },
      'role process ended; restarting it',
    );
    for (const part of member.parts) {
      const reasons = [`The ${part} process crashed and is being restarted.`];
      this.#setStatus(member, part, { ready: false, reasons });
    }
    member.restartTimer = setTimeout(() => this.#launch(member), member.restartDelayMs);
  }

  #setStatus(member: Member, part: Part, status: RoleStatus): void {
    member.statuses.set(part, status);
    this.#sendStatuses();
    this.#announceReady();
  }

  #announceReady(): void {
    // The janitor reports no status: nobody waits for it.
    const all = this.#members.flatMap(({ statuses }) => [...statuses].filter(([part]) => part !== 'janitor'));
    if (this.#wasReady || !all.every(([, { ready }]) => ready)) return;
    this.#wasReady = true;
    this.#options.onReady?.(Object.fromEntries(all.flatMap(([part, { about }]) => (about ? [[part, about]] : []))));
  }

  /** Only the process with the part `http`, which answers /readyz, needs the statuses: those of the other processes. */
  #sendStatuses(): void {
    const http = this.#members.find(({ parts }) => parts.includes('http'));
    if (!http) return;
    const others = this.#members.filter((member) => member !== http);
    const statuses = Object.fromEntries(others.flatMap((member) => [...member.statuses]));
    send(http, { kind: 'statuses', statuses });
  }
}

/**
 * @throws Error  for some of the reasons why a process cannot be started; the others are reported by its `error` event
 */
function forkRole(parts: Part[], { entry }: SupervisorOptions): ChildProcess {
  return fork(entry, parts, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
    env: roleEnvironment(),
    execArgv: [
      // For the collection after the start.
      '--expose-gc',
      // MiB. By default the young objects of a busy process take up to 128 MiB, whatever is left of them.
      ...(parts.includes('http') ? ['--max-semi-space-size=8'] : []),
    ],
  });
}

/** As in ROLES. */
function nameOf({ parts }: Member): string {
  return parts.join();
}

function giveOrder(member: Member, { nodeId, ...order }: NodeOrder): void {
  const holder = `${nodeId}/${randomUUID()}`;
  member.holder = holder;
  send(member, { kind: 'start', order: { ...order, holder } });
}

function nextRestartDelayMs({ startedAtMs, restartDelayMs }: Member): number {
  const hasRecovered = Date.now() - startedAtMs > RECOVERED_AFTER_MS;
  if (hasRecovered || restartDelayMs === 0) return FIRST_RESTART_DELAY_MS;
  return Math.min(restartDelayMs * 2, LONGEST_RESTART_DELAY_MS);
}

function send(member: Member, message: ToChild): void {
  // A child that is ending has a closed channel; its `exit` event is handled in #onEnd.
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
