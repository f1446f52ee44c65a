import type { Sql } from '../../../src/db/database.ts';
import type { Memory } from '../clients.ts';
import type { Call } from '../nodes.ts';
import type { Arrival } from '../receivers.ts';
import type { Change } from '../schema.ts';
import { checkArrivals, checkDeliveries, checkFanOut } from './deliveries.ts';
import { checkStreaks } from './failure-counts.ts';
import { checkJobs } from './jobs.ts';
import { checkMoney } from './ledger.ts';

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
  await checkMoney(admin, run, complain);
  await checkOwners(admin, complain);
  return found;
}

async function checkOwners(admin: Sql, complain: (text: string) => void): Promise<void> {
  const strays = await admin.rows<{ id: string }>({
    text: `select d.id from deliveries d join events e on e.id = d.event_id
        left join webhooks w on w.id = d.webhook_id
      where d.account_id <> e.account_id or d.account_id <> w.account_id or d.shard <> e.shard
      union all
      select e.id from events e join jobs j on j.id = e.job_id where j.account_id <> e.account_id
      union all
      select l.id from ledger l join jobs j on j.id = l.job_id where j.account_id <> l.account_id`,
  });
  for (const { id } of strays) complain(`owners: ${id} belongs to two accounts`);
}
