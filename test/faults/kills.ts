import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from '../../src/db/database.ts';
import { randomFrom } from '../fixtures/random.ts';
import { openReceiver } from '../fixtures/webhooks/receiver.ts';
import { openAccount, startClients } from './clients.ts';
import { countViolations, drained, type Findings, type Seen } from './history.ts';
import { type DatabaseKind, openServiceUnderLoad, VICTIMS, type Victim } from './service-under-load.ts';

export type KillRun = {
  kind: DatabaseKind;
  seed: number;
  kills: number;
  /** Called after every kill. */
  onKill?: (number: number, victim: Victim) => void;
};

export type KillReport = {
  killed: Record<string, number>;
  accepted: number;
  answers: Record<string, number>;
  requestsAtReceiver: number;
  findings: Findings;
  seconds: number;
};

// The receiver fails some requests, so that kills happen during retries too.
const FAILING_SHARE = 0.1;
const MAX_PAUSE_MS = 700;
const ACCOUNTS = 3;
const MAX_OPEN_JOBS = 60;
// A kill repeats what was sent and not recorded: up to 16 in flight of each webhook, and what ended 10 ms before.
const MAX_REPEATS = 16;

/**
 * Kills processes of a service under load at random times, waits for its recovery, and counts losses and duplicates.
 */
export async function runKills({ kind, seed, kills, onKill }: KillRun): Promise<KillReport> {
  const startedAtMs = performance.now();
  const random = randomFrom(seed);
  const chance = randomFrom(seed + 1);
  const seen: Seen[] = [];
  const ended = new Set<string>();
  await using receiver = await openReceiver({
    reply(request) {
      const status = chance.next() < FAILING_SHARE ? 503 : 204;
      seen.push({ request, status });
      ended.add(String(request.headers['x-service-event-id']));
      return { status };
    },
  });
  await using service = await openServiceUnderLoad(kind, receiver);
  const accounts = [];
  for (let i = 0; i < ACCOUNTS; i++) accounts.push(await openAccount(service, receiver));
  const clients = startClients(service, accounts, { mostOpen: MAX_OPEN_JOBS, ended: () => ended.size });

  const killed: Record<string, number> = {};
  for (let number = 0; number < kills; ) {
    await pause(random.next() * MAX_PAUSE_MS);
    const victim = random.pick(VICTIMS);
    if (!(await service.kill(victim))) continue;
    killed[victim] = (killed[victim] ?? 0) + 1;
    number += 1;
    onKill?.(number, victim);
  }

  await service.recovered();
  await clients.stop();
  const db = openDatabase(service.databaseUrl, { maxConnections: 1 });
  try {
    await drained(db);
    const findings = await countViolations(db, clients.accepted, seen);
    return {
      killed,
      accepted: clients.accepted.size,
      answers: Object.fromEntries(clients.answers),
      requestsAtReceiver: seen.length,
      findings,
      seconds: Math.round((performance.now() - startedAtMs) / 1000),
    };
  } finally {
    await db.close();
  }
}

/** The counts in a report that are not allowed, as sentences. */
export function killProblems({ findings, killed }: KillReport): string[] {
  const { repeatedDeliveries, ...zeros } = findings;
  const kills = Object.values(killed).reduce((sum, count) => sum + count, 0);
  const problems = Object.entries(zeros).flatMap(([name, count]) => (count === 0 ? [] : [`${name}: ${count}`]));
  if (repeatedDeliveries > MAX_REPEATS * kills)
    problems.push(`repeatedDeliveries: ${repeatedDeliveries} with ${kills} kills`);
  return problems;
}
