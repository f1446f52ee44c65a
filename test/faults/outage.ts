import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from '../../src/db/database.ts';
import { isAlive } from '../fixtures/processes/process-list.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver } from '../fixtures/webhooks/receiver.ts';
import { type ClientResults, openAccount, resultsOf, startClients } from './clients.ts';
import { countViolations, drained, type Findings, type Seen } from './history.ts';
import { openServiceUnderLoad, type ServiceUnderLoad } from './service-under-load.ts';

export const OUTAGES = ['stopped', 'frozen', 'cut'] as const;
/** PostgreSQL is shut down, does not answer, or closes all connections again and again. */
export type Outage = (typeof OUTAGES)[number];

export type OutageReport = ClientResults & {
  outage: Outage;
  processesEnded: number;
  /** Share of one core that all processes of the service used during the outage. */
  processorShare: number;
  /** Time from the end of the outage to the first accepted request. */
  recoveryMs: number;
  findings: Findings;
  /** The first errors in the service's log: an answer that is neither accepted nor refused has its cause there. */
  errors: string[];
};

const ACCEPTED_BEFORE = 5;
const CUT_EVERY_MS = 100;
const TICKS_PER_SECOND = 100;

/** Runs a service under load during an outage of its external database. */
export async function runOutage(outage: Outage, forMs: number): Promise<OutageReport> {
  const seen: Seen[] = [];
  await using receiver = await openReceiver({
    reply(request) {
      seen.push({ request, status: 204 });
      return { status: 204 };
    },
  });
  await using service = await openServiceUnderLoad('external', receiver);
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
      ...resultsOf(clients),
      processesEnded,
      processorShare: Math.round(processorShare * 1000) / 1000,
      recoveryMs: Math.round(recoveryMs),
      findings: await countViolations(db, clients.accepted, seen),
      errors: errorsIn(service.logText()),
    };
  } finally {
    await db.close();
  }
}

function errorsIn(log: string): string[] {
  return log
    .split('\n')
    .filter((line) => line.includes('"level":"error"'))
    .slice(0, 3);
}

async function takeAway(service: ServiceUnderLoad, outage: Outage, forMs: number): Promise<void> {
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

/** The counts in a report that are not allowed, as sentences. Times depend on the machine and are not checked. */
export function outageProblems(report: OutageReport): string[] {
  const { refusedWithoutRetryAfter, processesEnded, answers, refused, findings } = report;
  const zeros = { refusedWithoutRetryAfter, processesEnded, ...findings };
  const problems = Object.entries(zeros).flatMap(([name, count]) => (count === 0 ? [] : [`${name}: ${count}`]));
  const unknown = Object.keys(answers).filter((status) => status !== '202' && status !== '503');
  if (unknown.length > 0)
    problems.push(`answers other than 202 and 503: ${unknown.join()}; errors in the log: ${report.errors.join('\n')}`);
  if (refused === 0 && report.outage !== 'cut') problems.push('nothing was refused: the database was not down');
  return problems;
}
