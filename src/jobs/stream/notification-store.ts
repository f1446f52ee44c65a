import type { Sql } from '../../db/database.ts';
import type { JobState } from '../../rules/jobs/job-state.ts';
import type { JobName } from '../store.ts';

/** What of a job changes while it is watched. */
export type JobPulse = { shard: number; id: string; state: JobState; lease: number; progress: number };

/** Where these jobs stand; those that are gone are left out. */
export async function findPulses(sql: Sql, jobs: JobName[]): Promise<JobPulse[]> {
  return await sql.rows<JobPulse>({
    name: 'find_job_pulses',
    text: `
      select jobs.shard, jobs.id, jobs.state, jobs.lease, jobs.progress
      from unnest($1::smallint[], $2::text[]) as asked (shard, id)
      join jobs on jobs.shard = asked.shard and jobs.id = asked.id`,
    values: [jobs.map((job) => job.shard), jobs.map((job) => job.id)],
  });
}
