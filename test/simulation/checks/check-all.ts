import type { Sql } from '../../../src/db/database.ts';
import { checkLive } from '../live/check-live.ts';
import { checkArrivals } from './arrivals.ts';
import { checkDeliveries, checkFanOut } from './deliveries.ts';
import { checkFailureCounts } from './failure-counts.ts';
import { checkJobs } from './jobs.ts';
import { checkLedger } from './ledger.ts';
import { checkQueues } from './queues.ts';
import type { Run } from './run.ts';
import { checkUsage } from './usage.ts';

/** The rules that a run violated, as sentences. */
export async function findViolations(admin: Sql, run: Run): Promise<string[]> {
  const found: string[] = [];
  const report = (text: string) => void found.push(text);
  if (!run.isOver) report('liveness: a job or delivery is still open long after the last fault');
  if (run.isFaultless && run.foundLate > 0) report(`reads: ${run.foundLate} deliveries were found late`);
  checkJobs(run, report);
  checkQueues(run, report);
  checkDeliveries(run, report);
  checkFanOut(run, report);
  checkArrivals(run, report);
  checkFailureCounts(run, report);
  await checkLedger(admin, run, report);
  await checkUsage(admin, run, report);
  await checkLive(run, report);
  await checkOwners(admin, report);
  return found;
}

async function checkOwners(admin: Sql, report: (text: string) => void): Promise<void> {
  const strays = await admin.rows<{ id: string }>({
    text: `select d.id from deliveries d join events e on e.id = d.event_id
        left join webhooks w on w.id = d.webhook_id
      where d.account_id <> e.account_id or d.account_id <> w.account_id or d.shard <> e.shard
      union all
      select e.id from events e join jobs j on j.id = e.job_id where j.account_id <> e.account_id
      union all
      select l.id from ledger l join jobs j on j.id = l.job_id where j.account_id <> l.account_id`,
  });
  for (const { id } of strays) report(`owners: ${id} belongs to two accounts`);
}
