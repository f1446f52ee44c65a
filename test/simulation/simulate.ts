import { createHash } from 'node:crypto';
import type { Database } from '../../src/db/database.ts';
import type { EngineFailure } from '../../src/rules/fault.ts';
import type { Random } from '../fixtures/random.ts';
import { findViolations } from './checks/check-all.ts';
import { Clients } from './clients.ts';
import { FAULTLESS, type SimulatedPostgres } from './database.ts';
import { die, type Environment } from './environment.ts';
import { useSimulatedTime } from './fakes/simulated-time.ts';
import { LiveClients } from './live/live-clients.ts';
import { endProcess, LIVE_SLOTS, type Node, releaseLeases, SLOTS, startNode } from './nodes.ts';
import { openReceivers } from './receivers.ts';
import { type Change, READ_CHANGES } from './schema.ts';
import { openSimulator, type Simulator, START_MS } from './simulator.ts';

export type SeedReport = {
  seed: number;
  violations: string[];
  jobs: number;
  events: number;
  arrivals: number;
  /** Crashes, stops, freezes, clock jumps, outages, and failed statements. */
  faults: number;
  /** Hash of all changes. */
  digest: string;
  /** Whether each run of the seed makes the same changes in the same order. */
  isReplayable: boolean;
};

const ACTIONS_MS = 45_000;
const LIVENESS_MS = 900_000;
const LOOK_MS = 5_000;
/** One seed of so many has live sessions. */
export const LIVE_EVERY = 3;
// A session begins with a minute that is paid for, as much as all jobs of an account cost.
const LIVE_RICHNESS = 3;
const SESSIONS = 6;
const CUTS = [0.01, 0.05, 0.15];
// Longer than any wait of an actor: callbacks of the seed before have run by then.
const CALM_AFTER_MS = START_MS + ACTIONS_MS;

let simulator: Simulator | null = null;

/** From now on, this process takes its time and its random numbers from the simulator that runs. */
export function beginSimulating(fallback: Random): void {
  useSimulatedTime({ nowMs: () => simulator?.nowMs() ?? START_MS, random: () => simulator?.random ?? fallback });
}

/** Runs one seed: 45 simulated seconds with faults, then none until no job or delivery is open, then the checks. */
export async function simulate(postgres: SimulatedPostgres, seed: number): Promise<SeedReport> {
  await postgres.clear();
  const here = openSimulator(seed, postgres.countWaiting);
  simulator = here;
  const server = postgres.enter(here);
  const receivers = openReceivers(here, () => here.nowMs() + server.clockOffsetMs);
  const environment: Environment = {
    simulator: here,
    server,
    receivers,
    calls: [],
    engineFaults: { fails: 0.05, crawls: 0.06, freezes: 0 },
    enginesAway: new Map(),
    frozenCalls: 0,
    endedAtMs: new Map(),
    parents: [],
    clockSteps: [],
    unexpected: [],
    foundLate: 0,
    liveViolations: [],
  };
  const nodes = new Map<string, Node>();
  const clients = new Clients(environment);
  const note = noteOf(environment);
  const isLive = seed % LIVE_EVERY === 0;
  const accounts = await clients.makeAccounts(postgres.admin, 2 + here.random.integer(2), isLive ? LIVE_RICHNESS : 1);
  const faults = planFaults(environment, nodes);

  const live = isLive ? openLive(environment, { admin: postgres.admin, nodes, faults }) : null;
  for (const slot of live ? [...SLOTS, ...LIVE_SLOTS] : SLOTS) nodes.set(slot, startNode(slot, environment));
  let calls = 0;
  const call = (made: Promise<unknown>) => {
    calls++;
    void made.catch(note).finally(() => calls--);
  };
  for (const account of accounts) here.after(clients.actor, 10, () => call(clients.createWebhook(account)));
  const actions = 25 + here.random.integer(30);
  for (let i = 0; i < actions; i++) {
    const account = here.random.pick(accounts);
    here.after(clients.actor, here.random.next() * ACTIONS_MS, () => call(clients.act(account)));
  }

  for (let i = live ? SESSIONS : 0; i > 0; i--) {
    const account = here.random.pick(accounts);
    here.after(live!.actor, here.random.next() * ACTIONS_MS, () =>
      call(live!.begin(account).then((id) => clients.accepted({ id, account }))),
    );
  }

  await here.run(CALM_AFTER_MS);
  faults.end();
  if (live) live.cuts.rate = 0;
  const isOver = await untilNothingIsOpen(here, postgres, () => calls);
  const until = [...nodes.values()].flatMap(({ actor }) => [actor.frozenUntilMs, actor.cutOffUntilMs]);
  const calmAtMs = Math.max(CALM_AFTER_MS, ...until);
  for (const node of nodes.values()) await die(node.actor);
  for (const parent of environment.parents) await die(parent);
  await die(clients.actor);
  if (live) await die(live.actor);

  const changes = await postgres.admin.rows<Change>({ text: READ_CHANGES });
  const run = {
    changes,
    arrivals: receivers.arrivals,
    sent: receivers.sent,
    memory: clients.memory,
    calls: environment.calls,
    endedAtMs: environment.endedAtMs,
    clockSteps: environment.clockSteps,
    foundLate: environment.foundLate,
    spoken: live?.spoken ?? [],
    liveViolations: environment.liveViolations,
    calmAtMs: calmAtMs + server.clockOffsetMs,
  };
  const isFaultless = faults.count() + server.faultCount() === 0;
  const violations = await findViolations(postgres.admin, { ...run, isFaultless, isOver });
  violations.push(...environment.unexpected.map((message) => `errors: ${message}`));
  simulator = null;
  return {
    seed,
    violations,
    jobs: new Set(changes.filter(({ what }) => what === 'job').map(({ after, before }) => (after ?? before).id)).size,
    events: changes.filter(({ what }) => what === 'event').length,
    arrivals: receivers.arrivals.length,
    faults: faults.count() + server.faultCount(),
    digest: digestOf(changes),
    isReplayable: here.isReplayable(),
  };
}

function openLive(
  environment: Environment,
  { admin, nodes, faults }: { admin: Database; nodes: Map<string, Node>; faults: { isCalm: boolean } },
): LiveClients {
  const living = () => LIVE_SLOTS.map((slot) => nodes.get(slot)!);
  const clients = new LiveClients(environment, admin, living);
  if (!faults.isCalm) clients.cuts.rate = environment.simulator.random.pick(CUTS);
  return clients;
}

/** Clients expect refusals and broken connections; the checks cover their jobs as well. Other errors violate a rule. */
function noteOf({ unexpected }: Environment): (error: unknown) => void {
  return (error) => {
    const { name, code, message } = error as { name?: string; code?: string; message: string };
    if (name !== 'ApiError' && code !== '08006') unexpected.push(message);
  };
}

/** No job and no delivery is open, and no call of a client is under way, which may commit late. */
async function untilNothingIsOpen(
  here: Simulator,
  { admin }: SimulatedPostgres,
  calls: () => number,
): Promise<boolean> {
  for (let untilMs = CALM_AFTER_MS; untilMs < CALM_AFTER_MS + LIVENESS_MS; ) {
    untilMs += LOOK_MS;
    await here.run(untilMs);
    const [row] = await admin.rows<{ open: number }>({
      text: `select (select count(*) from jobs where state in ('queued', 'processing'))
        + (select count(*) from deliveries) as open`,
    });
    if (row!.open + calls() === 0) return true;
  }
  return false;
}

/** Plans faults of processes, network and clocks until `end`; every third seed has none. */
function planFaults(environment: Environment, nodes: Map<string, Node>) {
  const { simulator: here, server } = environment;
  const { random } = here;
  const isCalm = random.next() < 0.3;
  server.wayMs = random.pick([3, 3, 20]);
  environment.receivers.answerMs = random.pick([60, 60, 700]);
  let count = 0;
  let ended = isCalm;
  if (!isCalm) {
    const level = random.pick([0.002, 0.01, 0.03]);
    server.faults = {
      lost: level,
      unanswered: level,
      late: level,
      notNotified: random.pick([0, 0.1, 1]),
      lateCommit: random.pick([0, 0.05, 0.2]),
      freezes: random.pick([0, 0, 0.01]),
    };
    for (let i = 4 + random.integer(10); i > 0; i--)
      here.after(null, random.next() * ACTIONS_MS, () => !ended && strike());
    environment.receivers.freezes = random.pick([0, 0.04, 0.1]);
    environment.engineFaults.freezes = random.pick([0, 0.03, 0.1]);
  }

  function strike(): void {
    count++;
    const node = random.pick([...nodes.values()]);
    const luck = random.next();
    if (luck < 0.45) crash(node);
    else if (luck < 0.55) stopInOrder(node);
    else if (luck < 0.63) node.actor.cutOffUntilMs = here.nowMs() + random.next() * 40_000;
    else if (luck < 0.75) node.actor.frozenUntilMs = here.nowMs() + random.next() * random.pick([15_000, 90_000]);
    else if (luck < 0.85) node.actor.clockOffsetMs = (random.next() - 0.5) * random.pick([10_000, 7_200_000]);
    else if (luck < 0.89) stepClock();
    else if (luck < 0.96) engineGoesAway(node);
    else here.work(server.goAway(random.next() * 10_000), () => undefined);
  }

  /** Its server is gone, refuses or does not answer, its model cannot be loaded, or its processes die. */
  function engineGoesAway({ actor }: Node): void {
    const failure = random.pick<EngineFailure>([
      { kind: 'connection' },
      { kind: 'status', status: 503 },
      { kind: 'timeout' },
      { kind: 'start' },
      { kind: 'died' },
      { kind: 'piece' },
    ]);
    environment.enginesAway.set(actor.slot, { untilMs: here.nowMs() + random.next() * 60_000, failure });
  }

  function stepClock(): void {
    const byMs = random.next() * random.pick([1_000, 120_000]);
    environment.clockSteps.push({ atMs: here.nowMs(), byMs });
    server.clockOffsetMs += byMs;
  }

  function crash(node: Node): void {
    if (!node.actor.isAlive) return;
    // Sometimes the parent process dies too: then nobody releases the leases, and they expire.
    const hasParent = random.next() < 0.6;
    here.work(endProcess(node, environment), () => {
      if (hasParent) void releaseLeases(node.holder, environment).catch(noteOf(environment));
    });
    here.after(null, random.next() * 5_000, () => nodes.set(node.actor.slot, startNode(node.actor.slot, environment)));
  }

  function stopInOrder(node: Node): void {
    const { actor } = node;
    void node.stop().then(() => {
      if (!actor.isAlive) return;
      here.work(endProcess(node, environment), () => undefined);
      nodes.set(actor.slot, startNode(actor.slot, environment));
    });
  }

  return {
    isCalm,
    count: () => count + environment.receivers.frozen() + environment.frozenCalls,
    end() {
      ended = true;
      environment.receivers.freezes = 0;
      server.faults = FAULTLESS;
      environment.engineFaults = { fails: 0, crawls: 0, freezes: 0 };
      environment.enginesAway.clear();
    },
  };
}

function digestOf(changes: Change[]): string {
  const hash = createHash('sha256');
  for (const { what, after, before, slot, atMs } of changes)
    hash.update(JSON.stringify([what, slot, atMs, before, after]));
  return hash.digest('hex').slice(0, 16);
}
