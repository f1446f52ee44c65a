import type { Sql } from '../../db/database.ts';
import type { JobState } from '../../rules/jobs/job-state.ts';
import type { ShareName } from './share-token.ts';

/** A link to the transcript of a job, without its token. */
export type Share = {
  shard: number;
  id: string;
  jobId: string;
  /** The key, or a user's membership, that made it. */
  keyId: string;
  createdAt: Date;
  expiresAt: Date;
  openedCount: number;
  lastOpenedAt: Date | null;
};

type OwnedJob = { shard: number; accountId: string; id: string };

const COLUMNS = `shard, id, job_id as "jobId", key_id as "keyId", created_at as "createdAt", expires_at as "expiresAt",
  opened_count as "openedCount", last_opened_at as "lastOpenedAt"`;

/**
 * The state of a job, which cannot be erased before the end of the transaction; links to it are made one after the
 * other. Null when the account has no such job.
 */
export async function lockJobToShare(tx: Sql, { shard, accountId, id }: OwnedJob): Promise<JobState | null> {
  const [row] = await tx.rows<{ state: JobState }>({
    name: 'lock_job_to_share',
    text: 'select state from jobs where shard = $1 and id = $2 and account_id = $3 for update',
    values: [shard, id, accountId],
  });
  return row?.state ?? null;
}

/** The links to a job that have not expired, newest first. */
export async function findSharesOfJob(sql: Sql, { shard, accountId, id }: OwnedJob): Promise<Share[]> {
  return await sql.rows<Share>({
    name: 'find_shares_of_job',
    text: `
      select ${COLUMNS}
      from transcript_shares
      where shard = $1 and job_id = $2 and account_id = $3 and expires_at > statement_timestamp()
      order by id desc`,
    values: [shard, id, accountId],
  });
}

type NewShare = ShareName & {
  id: string;
  jobId: string;
  keyId: string;
  seconds: number;
  /** The link ends then at the latest; null: no such limit. */
  keyExpiresAt: Date | null;
};

/** Adds a link. */
export async function insertShare(tx: Sql, share: NewShare): Promise<Share> {
  const [row] = await tx.rows<Share>({
    name: 'insert_share',
    text: `
      insert into transcript_shares (shard, id, account_id, job_id, key_id, hash, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, now(), least(now() + $7 * interval '1 second', $8::timestamptz))
      returning ${COLUMNS}`,
    values: [
      share.shard,
      share.id,
      share.accountId,
      share.jobId,
      share.keyId,
      share.hash,
      share.seconds,
      share.keyExpiresAt,
    ],
  });
  return row!;
}

/** The link with this token; null when it is unknown, has expired or was ended. */
export async function findShare(sql: Sql, { shard, accountId, hash }: ShareName): Promise<Share | null> {
  const [row] = await sql.rows<Share>({
    name: 'find_share',
    isBrief: true,
    text: `
      select ${COLUMNS}
      from transcript_shares
      where shard = $1 and hash = $2 and account_id = $3 and expires_at > statement_timestamp()`,
    values: [shard, hash, accountId],
  });
  return row ?? null;
}

/** Counts an opening of a link. */
export async function noteOpening(sql: Sql, { shard, id }: Pick<Share, 'shard' | 'id'>): Promise<void> {
  await sql.run({
    name: 'note_share_opening',
    text: `
      update transcript_shares
      set opened_count = opened_count + 1, last_opened_at = statement_timestamp()
      where shard = $1 and id = $2`,
    values: [shard, id],
  });
}

/** Ends a link to a job. False when there is none. */
export async function deleteShare(
  tx: Sql,
  { shard, accountId, id: jobId }: OwnedJob,
  shareId: string,
): Promise<boolean> {
  const deleted = await tx.run({
    name: 'delete_share',
    text: 'delete from transcript_shares where shard = $1 and id = $2 and job_id = $3 and account_id = $4',
    values: [shard, shareId, jobId, accountId],
  });
  return deleted > 0;
}

/** Deletes at most `limit` links of a shard that have expired. Returns how many. */
export async function deleteExpiredShares(
  sql: Sql,
  { shard, limit }: { shard: number; limit: number },
): Promise<number> {
  return await sql.run({
    name: 'delete_expired_shares',
    text: `
      delete from transcript_shares
      where shard = $1 and id = any(array(
        select id
        from transcript_shares
        where shard = $1 and expires_at <= statement_timestamp()
        order by expires_at
        limit $2
      ))`,
    values: [shard, limit],
  });
}

/** The part of a statement that deletes the links to jobs. @param ids  SQL of the list of ids; `$1` is the shard */
export const deleteSharesOf = (ids: string): string => `
      delete from transcript_shares
      where shard = $1 and job_id = any(${ids})`;
