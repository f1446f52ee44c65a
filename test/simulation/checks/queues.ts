import type { Change } from '../schema.ts';
import type { Run } from './run.ts';

// biome-ignore lint/suspicious/noExplicitAny: a row of jobs as JSON
type JobRow = any;

/**
 * Each transaction changes the count of an account's waiting jobs by as much as it changes the number of those jobs, so
 * that the count is exact after every step. The time of the last start is that of the job that started last.
 */
export function checkQueues({ changes }: Run, report: (text: string) => void): void {
  const relevant = changes.filter(({ what }) => what === 'job' || what === 'queue');
  const byTransaction = Map.groupBy(
    relevant,
    (change) => `${change.transaction} ${(change.before ?? change.after).account_id}`,
  );
  for (const [key, ofOne] of byTransaction) {
    const accountId = key.split(' ')[1]!;
    const jobs = ofOne.filter(({ what }) => what === 'job');
    const queues = ofOne.filter(({ what }) => what === 'queue');
    const waiting = sumOf(jobs, (job: JobRow) => (job?.state === 'queued' && job.lease === 0 && !job.is_live ? 1 : 0));
    const counted = sumOf(queues, (queue) => queue?.waiting ?? 0);
    if (waiting !== counted) report(`queues: ${accountId} has ${waiting} more waiting jobs and counts ${counted} more`);
    // Live sessions do not wait: their accounts may have no row that could note a start.
    const started = jobs.filter(({ before, after }) => before && after && after.lease > before.lease && !after.is_live);
    const startedAt = started.at(-1)?.after.started_at;
    if (startedAt !== undefined && queues.at(-1)?.after.last_started_at !== startedAt) {
      report(`queues: ${accountId} started a job and did not note it`);
    }
  }
}

function sumOf(changes: Change[], valueOfRow: (row: JobRow) => number): number {
  return changes.reduce((sum, { before, after }) => sum + valueOfRow(after) - valueOfRow(before), 0);
}
