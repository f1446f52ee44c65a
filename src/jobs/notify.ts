import type { Sql } from '../db/database.ts';

/** Wakes the transcribers: there are jobs to claim. */
export function notifyDue(sql: Sql): void {
  sql.notify('jobs_due', '');
}

/** Wakes the fetchers: there is audio to fetch. */
export function notifyFetchDue(sql: Sql): void {
  sql.notify('fetches_due', '');
}

/** Reports a change of a job to its event streams. */
export function notifyChanged(sql: Sql, jobId: string): void {
  sql.notify('job_changed', jobId);
}

/** Reports the end of a job to everything that waits for it. */
export function notifyEnd(sql: Sql, jobId: string): void {
  sql.notify('job_ended', jobId);
  notifyChanged(sql, jobId);
}
