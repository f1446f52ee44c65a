import type { Sql } from '../../db/database.ts';
import { firstBytes, type SizedRow } from '../../db/statements/page-bytes.ts';
import type { AccountRef } from '../../rules/shard.ts';
import type { Job } from '../job.ts';
import { LIST_COLUMNS } from '../store.ts';

/** A job without segments, and when it got its state: the time as PostgreSQL's text, and in milliseconds. */
export type ChangedJob = Job & SizedRow & { at: string; atMs: number };

// When a job got its state, by state; each has an index with this condition. `account` is an expression where the index
// does not contain the account: without statistics the planner would otherwise read all jobs of the account.
const CHANGES = [
  { isIn: 'jobs.completed_at is not null', at: 'jobs.completed_at', account: `jobs.account_id || ''` },
  { isIn: `jobs.state = 'processing'`, at: 'jobs.started_at', account: `jobs.account_id || ''` },
  { isIn: `jobs.state = 'queued' and jobs.lease = 0`, at: 'jobs.created_at', account: 'jobs.account_id' },
  // Queued again: due since then.
  { isIn: `jobs.state = 'queued' and jobs.lease > 0`, at: 'jobs.next_at', account: `jobs.account_id || ''` },
];

/**
 * Jobs whose state changed after a place, oldest change first; each with the state that it has now. At most `limit`,
 * and not many more than fit on a page.
 */
export async function listJobsChangedAfter(
  sql: Sql,
  { shard, accountId }: AccountRef,
  { after, limit }: { after: { at: string; id: string }; limit: number },
): Promise<ChangedJob[]> {
  const parts = CHANGES.map(
    ({ isIn, at, account }) => `
      (
        select ${LIST_COLUMNS}, ${at}::text as at, extract(epoch from ${at})::float8 * 1000 as "atMs"
        from jobs
        where shard = $1 and ${account} = $2 and ${isIn}
          and ${at} >= $3::timestamptz and (${at}, id) > ($3::timestamptz, $4)
        order by ${at}, id
        limit $5
      )`,
  );
  return await sql.rows<ChangedJob>({
    name: 'list_jobs_changed_after',
    isBrief: true,
    text: firstBytes(
      `${parts.join(' union all ')}
      order by "atMs", id
      limit $5`,
      '"atMs", id',
    ),
    values: [shard, accountId, after.at, after.id, limit],
  });
}

/** For each of the accounts with jobs that changed since a time, a text that changes with every further change. */
export async function summariseJobChanges(
  sql: Sql,
  accounts: readonly AccountRef[],
  sinceMs: number,
): Promise<{ accountId: string; state: string }[]> {
  const parts = CHANGES.map(
    ({ isIn, at, account }) => `
        select jobs.account_id, ${at} as at
        from jobs
        where jobs.shard = any($1::smallint[]) and ${account} = any($2::text[]) and ${isIn}
          and ${at} >= to_timestamp($3::float8 / 1000)`,
  );
  return await sql.rows({
    name: 'summarise_job_changes',
    isBrief: true,
    text: `
      select account_id as "accountId", concat(count(*), ' ', max(at)) as state
      from (${parts.join(' union all ')}
      ) as changes
      group by account_id`,
    values: [[...new Set(accounts.map(({ shard }) => shard))], accounts.map(({ accountId }) => accountId), sinceMs],
  });
}
