import type { Sql } from '../db/database.ts';
import type { JobKey } from './store.ts';

/** Wakes the transcribers: there are jobs to claim. */
export function notifyDue(sql: Sql): void {
  sql.notify('jobs_due', '');
}

/** Wakes the transcribers: this job is the only one that its account has waiting. */
export function notifyJobDue(sql: Sql, job: JobKey): void {
  sql.notify('jobs_due', wordOfJob(job));
}

function wordOfJob({ shard, id }: JobKey): string {
  return `${shard}:${id}`;
}

/** The job of a notification of `notifyJobDue`; null for any other on its channel. */
export function readJobDue(payload: string): JobKey | null {
  const [shard, id] = payload.split(':');
  return id === undefined ? null : { shard: Number(shard), id };
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
