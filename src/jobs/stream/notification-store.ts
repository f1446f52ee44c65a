import type { Sql } from '../../db/database.ts';
import type { JobState } from '../../rules/jobs/job-state.ts';
import type { JobKey } from '../store.ts';

/** What of a job changes while it is watched. */
export type JobSnapshot = { shard: number; id: string; state: JobState; lease: number; progress: number };

/** Where these jobs stand; those that are gone are left out. */
export async function findJobSnapshots(sql: Sql, jobs: JobKey[]): Promise<JobSnapshot[]> {
  return await sql.rows<JobSnapshot>({
    name: 'find_job_snapshots',
    text: `
      select jobs.shard, jobs.id, jobs.state, jobs.lease, jobs.progress
      from unnest($1::smallint[], $2::text[]) as asked (shard, id)
      join jobs on jobs.shard = asked.shard and jobs.id = asked.id`,
    values: [jobs.map((job) => job.shard), jobs.map((job) => job.id)],
  });
}
