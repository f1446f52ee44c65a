import type { Sql } from '../../db/database.ts';
import type { JobState } from '../../rules/jobs/job-state.ts';
import type { JobKey } from '../store.ts';

/** The columns of a job that change while it is processed. */
export type JobSnapshot = { shard: number; id: string; state: JobState; lease: number; progress: number };

/** The present state of these jobs, without those that were deleted. */
export async function findJobSnapshots(sql: Sql, jobs: JobKey[]): Promise<JobSnapshot[]> {
  return await sql.rows<JobSnapshot>({
    name: 'find_job_snapshots',
    text: `
      select jobs.shard, jobs.id, jobs.state, jobs.lease, jobs.progress
      from unnest($1::smallint[], $2::text[]) as wanted (shard, id)
      join jobs on jobs.shard = wanted.shard and jobs.id = wanted.id
      where jobs.shard = any($1::smallint[])`,
    values: [jobs.map((job) => job.shard), jobs.map((job) => job.id)],
  });
}
