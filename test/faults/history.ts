import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import type { Database } from '../../src/db/database.ts';
import { countDriftedAccounts } from '../fixtures/database/drifted-accounts.ts';
import { until } from '../fixtures/until.ts';
import type { Received } from '../fixtures/webhooks/receiver.ts';
import type { Account } from './clients.ts';

/** Counts that must be zero after any number of kills, and the number of repeated deliveries. */
export type Findings = {
  acceptedJobsLost: number;
  jobsNotEnded: number;
  jobsEndedTwice: number;
  eventsLost: number;
  unknownEvents: number;
  badSignatures: number;
  attemptsOutOfRange: number;
  driftedLedgers: number;
  unitsStillHeld: number;
  /** Requests for a delivery after the receiver had accepted it. */
  repeatedDeliveries: number;
};

/** One request at the receiver, and the status of its answer. */
export type Seen = { request: Received; status: number };

const DRAIN_MS = 120_000;

/** Resolves when no job and no delivery is open. */
export async function drained(db: Database): Promise<void> {
  const count = async (): Promise<number> => {
    const [row] = await db.rows<{ open: number }>({
      text: `
        select (select count(*) from jobs where state in ('queued', 'processing'))
          + (select count(*) from deliveries) as open`,
    });
    return row!.open;
  };
  await until('the end of every job and delivery', async () => (await count().catch(() => 1)) === 0, DRAIN_MS);
}

/** Compares what the clients and the receiver recorded with the database. */
export async function countViolations(db: Database, accepted: Map<string, Account>, seen: Seen[]): Promise<Findings> {
  const jobs = await db.rows<{ id: string; state: string; events: number }>({
    text: `
      select jobs.id, jobs.state, (select count(*) from events where events.job_id = jobs.id) as events
      from jobs`,
  });
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const events = await db.rows<{ id: string; failed: number }>({
    text: `
      select events.id, (select count(*) from attempts where event_id = events.id and status = 'failed') as failed
      from events`,
  });
  const eventIds = new Set(events.map((event) => event.id));
  const taken = new Set(seen.filter(({ status }) => status === 204).map(({ request }) => eventOf(request)));
  const [held] = await db.rows<{ held: number }>({
    text: 'select coalesce(sum(held), 0)::bigint as held from accounts',
  });
  const isOver = (state: string) => state === 'completed' || state === 'failed';
  const isExhausted = (event: (typeof events)[number]) => event.failed >= 4;
  return {
    acceptedJobsLost: [...accepted.keys()].filter((id) => !byId.has(id)).length,
    jobsNotEnded: jobs.filter((job) => !isOver(job.state) || job.events === 0).length,
    jobsEndedTwice: jobs.filter((job) => job.events > 1).length,
    eventsLost: events.filter((event) => !taken.has(event.id) && !isExhausted(event)).length,
    unknownEvents: seen.filter(({ request }) => !eventIds.has(eventOf(request))).length,
    badSignatures: seen.filter(({ request }) => !isSigned(request, [...new Set(accepted.values())])).length,
    attemptsOutOfRange: seen.filter(({ request }) => !/^[1-4]$/.test(String(request.headers['x-service-attempt'])))
      .length,
    driftedLedgers: await countDriftedAccounts(db),
    unitsStillHeld: held!.held,
    repeatedDeliveries: countRepeats(seen),
  };
}

function eventOf(request: Received): string {
  return String(request.headers['x-service-event-id']);
}

function isSigned({ headers, body, receivedAt }: Received, accounts: Account[]): boolean {
  return accounts.some(({ webhookSecret: secret }) => {
    try {
      verifyDelivery({ secret, headers, body, now: receivedAt });
      return true;
    } catch {
      return false;
    }
  });
}

function countRepeats(seen: Seen[]): number {
  const taken = new Set<string>();
  let repeats = 0;
  for (const { request, status } of seen) {
    // Each event goes to one webhook in these runs.
    const event = eventOf(request);
    if (taken.has(event)) repeats++;
    if (status === 204) taken.add(event);
  }
  return repeats;
}
