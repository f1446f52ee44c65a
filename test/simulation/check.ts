import type { Sql } from '../../src/db/sql.ts';
import type { Memory } from './callers.ts';
import { checkArrivals, checkDeliveries, checkFanOut } from './check-deliveries.ts';
import { checkJobs } from './check-jobs.ts';
import { checkStreaks } from './check-streaks.ts';
import type { Call } from './nodes.ts';
import type { Arrival } from './receivers.ts';
import type { Change } from './schema.ts';

/** All that a run left behind, for the checks. */
export type Run = {
  changes: Change[];
  arrivals: Arrival[];
  memory: Memory;
  calls: Call[];
  /** Processes that have ended, by the name under which they held leases, and when. */
  endedAtMs: Map<string, number>;
  /** Nothing went wrong in this run but receivers and engines. */
  isFaultless: boolean;
  /** Nothing was open at its end. */
  isOver: boolean;
};

/** Everything that a run did against the rules, as sentences; empty when all is well. */
export async function findViolations(admin: Sql, run: Run): Promise<string[]> {
  const found: string[] = [];
  const complain = (text: string) => void found.push(text);
  if (!run.isOver) complain('liveness: a job or delivery is still open long after the trouble ended');
  checkJobs(run, complain);
  checkDeliveries(run, complain);
  checkFanOut(run, complain);
  checkArrivals(run, complain);
  checkStreaks(run, complain);
  await checkLedger(admin, run, complain);
  await checkOwners(admin, complain);
  return found;
}

async function checkLedger(admin: Sql, { changes, isOver }: Run, complain: (text: string) => void): Promise<void> {
  const accounts = await admin.rows<{ id: string; amount: number; held: number; sum: number; sumHeld: number }>({
    text: `select a.id, a.amount, a.held, coalesce(sum(l.amount_change), 0)::bigint as sum,
        coalesce(sum(l.held_change), 0)::bigint as "sumHeld"
      from accounts a left join ledger l on l.account_id = a.id
      group by a.id, a.amount, a.held`,
  });
  for (const { id, amount, held, sum, sumHeld } of accounts) {
    if (amount !== sum || held !== sumHeld) complain(`ledger: ${id} does not sum up`);
    if (isOver && held !== 0) complain(`ledger: ${id} still holds ${held}`);
  }
  const known = new Set(changes.filter(({ what }) => what === 'job').map(({ before, after }) => (before ?? after).id));
  const jobs = await admin.rows<{ id: string; holds: number; ends: number }>({
    text: `select job_id as id, count(*) filter (where kind = 'hold') as holds,
        count(*) filter (where kind in ('capture', 'release')) as ends
      from ledger where job_id is not null group by job_id`,
  });
  for (const { id, holds, ends } of jobs) {
    if (!known.has(id)) complain(`ledger: a hold without its job, ${id}`);
    if (holds !== 1) complain(`ledger: ${id} was held ${holds} times`);
    if (isOver && ends !== 1) complain(`ledger: the hold of ${id} ended ${ends} times`);
  }
}

async function checkOwners(admin: Sql, complain: (text: string) => void): Promise<void> {
  const strays = await admin.rows<{ id: string }>({
    text: `select d.id from deliveries d join events e on e.id = d.event_id
        left join webhooks w on w.id = d.webhook_id
      where d.account_id <> e.account_id or d.account_id <> w.account_id or d.lane <> e.lane
      union all
      select e.id from events e join jobs j on j.id = e.job_id where j.account_id <> e.account_id
      union all
      select l.id from ledger l join jobs j on j.id = l.job_id where j.account_id <> l.account_id`,
  });
  for (const { id } of strays) complain(`owners: ${id} belongs to two accounts`);
}
