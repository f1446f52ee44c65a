import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from '../../src/db/database.ts';
import { isAlive } from '../fixtures/processes/process-list.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver } from '../fixtures/webhooks/receiver.ts';
import type { Heard } from './clients.ts';
import { heardBy, openAccount, startClients } from './clients.ts';
import type { Findings, Seen } from './history.ts';
import { drained, findFaults } from './history.ts';
import type { ServiceUnderFire } from './service-under-load.ts';
import { openServiceUnderFire } from './service-under-load.ts';

export const OUTAGES = ['stopped', 'frozen', 'cut'] as const;
/** PostgreSQL is shut down, does not answer, or breaks all connections again and again. */
export type Outage = (typeof OUTAGES)[number];

export type OutageReport = Heard & {
  outage: Outage;
  processesEnded: number;
  /** Of one core, over all processes of the service while the database was away. */
  processorShare: number;
  /** From the database's return to the first request that was accepted. */
  recoveryMs: number;
  findings: Findings;
};

const ACCEPTED_BEFORE = 5;
// What a connection has to wait for: two statements that time out one after the other are more than a caller may wait.
const CUT_EVERY_MS = 100;
const TICKS_PER_SECOND = 100;

/** A service under load whose external database goes away for a while and comes back. */
export async function runOutage(outage: Outage, forMs: number): Promise<OutageReport> {
  const seen: Seen[] = [];
  await using receiver = await openReceiver({
    reply(request) {
      seen.push({ request, status: 204 });
      return { status: 204 };
    },
  });
  await using service = await openServiceUnderFire('external', receiver);
  const accounts = [await openAccount(service, receiver), await openAccount(service, receiver)];
  const clients = startClients(service, accounts, { mostOpen: 40, ended: () => seen.length });
  await until('the first jobs', () => clients.accepted.size >= ACCEPTED_BEFORE);
  const pids = service.servicePids();

  const usedBefore = processorSeconds(pids);
  await takeAway(service, outage, forMs);
  const processorShare = (processorSeconds(pids) - usedBefore) / (forMs / 1000);

  const acceptedBefore = clients.accepted.size;
  const backAtMs = performance.now();
  await until('an accepted job', () => clients.accepted.size > acceptedBefore);
  const recoveryMs = performance.now() - backAtMs;
  const processesEnded = pids.filter((pid) => !isAlive(pid)).length;
  await clients.stop();

  const db = openDatabase(service.databaseUrl, { maxConnections: 1 });
  try {
    await drained(db);
    return {
      outage,
      ...heardBy(clients),
      processesEnded,
      processorShare: Math.round(processorShare * 1000) / 1000,
      recoveryMs: Math.round(recoveryMs),
      findings: await findFaults(db, clients.accepted, seen),
    };
  } finally {
    await db.close();
  }
}

async function takeAway(service: ServiceUnderFire, outage: Outage, forMs: number): Promise<void> {
  if (outage === 'stopped') {
    const start = await service.stopDatabase();
    await pause(forMs);
    await start();
  } else if (outage === 'frozen') {
    const pids = service.findDatabase();
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await pause(forMs);
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  } else {
    const db = openDatabase(service.databaseUrl, { maxConnections: 1 });
    for (const endAtMs = performance.now() + forMs; performance.now() < endAtMs; await pause(CUT_EVERY_MS)) {
      await db.rows({
        text: `select pg_terminate_backend(pid) from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      });
    }
    await db.close();
  }
}

function processorSeconds(pids: number[]): number {
  return pids.reduce((sum, pid) => sum + secondsOf(pid), 0);
}

/** Fields 14 and 15 of /proc/<pid>/stat: ticks in user and in system mode. */
function secondsOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

/** What may not be in a report, as sentences; the times are for a machine that does nothing else. */
export function complaintsAboutOutage(report: OutageReport): string[] {
  const { refusedWithoutRetryAfter, processesEnded, answers, refused, findings } = report;
  const zeros = { refusedWithoutRetryAfter, processesEnded, ...findings };
  const complaints = Object.entries(zeros).flatMap(([name, count]) => (count === 0 ? [] : [`${name}: ${count}`]));
  const unknown = Object.keys(answers).filter((status) => status !== '202' && status !== '503');
  if (unknown.length > 0) complaints.push(`answers other than 202 and 503: ${unknown.join()}`);
  if (refused === 0 && report.outage !== 'cut') complaints.push('nothing was refused: the database was not away');
  return complaints;
}
