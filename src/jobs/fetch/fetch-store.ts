import type { Sql } from '../../db/database.ts';
import type { ClaimedJob, Job } from '../job.ts';
import { notifyChanged, notifyDue, notifyFetchDue } from '../notify.ts';
import { JOB_COLUMNS, type JobKey } from '../store.ts';

/** Identifies a claim of a fetch by the lease's number. */
export type FetchClaim = JobKey & { lease: number };

/** A fetch claimed by this process. After another claim, writes under this lease are rejected. */
export type ClaimedFetch = FetchClaim & {
  accountId: string;
  /** URL and headers, sealed for the job. */
  request: Buffer;
  /** Tries that failed, and the time that they took. */
  tries: number;
  spentMs: number;
  createdAt: Date;
  /** The database's time of the claim. */
  moment: Date;
};

/**
 * Accounts with due fetches and fewer than `perAccount` under way, those first whose last one was started longest ago.
 */
export async function findAccountsToFetchFor(
  sql: Sql,
  { perAccount, limit }: { perAccount: number; limit: number },
): Promise<{ shard: number; accountId: string }[]> {
  return await sql.rows({
    name: 'find_accounts_to_fetch_for',
    text: `
      -- every shard: accounts of all shards take turns
      with fetches as (
        select shard, account_id, count(*) filter (where next_at <= clock_timestamp()) as due,
          count(*) filter (where holder is not null and next_at > clock_timestamp()) as running
        from audio_fetches
        group by shard, account_id
      )
      select fetches.shard, fetches.account_id as "accountId"
      from fetches
      left join job_queues as queue on queue.shard = fetches.shard and queue.account_id = fetches.account_id
      where due > 0 and running < $1
      order by last_fetch_at nulls first, fetches.shard, fetches.account_id
      limit $2`,
    values: [perAccount, limit],
  });
}

/** Locks the account's fetches against other claims for the rest of the transaction, and notes that it had its turn. */
export async function lockFetchesOf(
  tx: Sql,
  { shard, accountId }: { shard: number; accountId: string },
): Promise<void> {
  await tx.run({
    name: 'lock_fetches',
    text: `
      insert into job_queues as queue (shard, account_id, waiting, last_fetch_at)
      values ($1, $2, 0, clock_timestamp())
      on conflict (shard, account_id) do update
      set last_fetch_at = excluded.last_fetch_at`,
    values: [shard, accountId],
  });
}

export type FetchesToClaim = {
  shard: number;
  accountId: string;
  /** The most that may be under way for the account, and to be claimed now. */
  perAccount: number;
  places: number;
  /** `<node>/<process>`. */
  holder: string;
  leaseMs: number;
};

/** Claims due fetches of an account that `lockFetchesOf` has locked, those first that have waited longest. */
export async function claimFetches(
  tx: Sql,
  { shard, accountId, perAccount, places, holder, leaseMs }: FetchesToClaim,
): Promise<ClaimedFetch[]> {
  return await tx.rows<ClaimedFetch>({
    name: 'claim_fetches',
    text: `
      with clock as (
        select clock_timestamp() as moment, clock_timestamp() + $6 * interval '1 millisecond' as lease_ends_at
      ), running as (
        select count(*) as fetches
        from audio_fetches
        where shard = $1 and account_id = $2 and holder is not null and next_at > (select moment from clock)
      ), due as (
        select job_id
        from audio_fetches
        where shard = $1 and account_id = $2 and next_at <= (select moment from clock)
        order by next_at, job_id
        limit greatest(0, least($3::bigint, $4::bigint - (select fetches from running)))
        for update skip locked
      ), claimed as (
        update audio_fetches
        set holder = $5, lease = lease + 1, next_at = (select lease_ends_at from clock)
        where shard = $1 and job_id = any(array(select job_id from due))
        returning shard, job_id as id, account_id as "accountId", request, tries, spent_ms as "spentMs", lease,
          created_at as "createdAt"
      )
      select claimed.*, (select moment from clock) as moment
      from claimed`,
    values: [shard, accountId, places, perAccount, holder, leaseMs],
  });
}

/**
 * Moves the ends of these leases, all of one shard, to `leaseMs` from now. Returns the ids of the fetches that are
 * still held. Skips a row that is locked, because its fetch is being ended: it counts as held and is not renewed.
 */
export async function renewFetches(
  sql: Sql,
  claims: FetchClaim[],
  { shard, leaseMs }: { shard: number; leaseMs: number },
): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>({
    name: 'renew_fetches',
    text: `
      with clock as (
        select clock_timestamp() + $4 * interval '1 millisecond' as lease_ends_at
      ), claims as (
        select *
        from unnest($2::text[], $3::int[]) as c (id, lease)
      ), free as (
        select fetches.job_id
        from claims
        join audio_fetches as fetches on fetches.job_id = claims.id and fetches.lease = claims.lease
        where fetches.shard = $1 and fetches.holder is not null
        for update of fetches skip locked
      ), renewed as (
        update audio_fetches
        set next_at = (select lease_ends_at from clock)
        from free
        where audio_fetches.shard = $1 and audio_fetches.job_id = free.job_id
      )
      select claims.id
      from claims
      join audio_fetches as fetches on fetches.job_id = claims.id and fetches.lease = claims.lease
      where fetches.shard = $1 and fetches.holder is not null`,
    values: [shard, claims.map(({ id }) => id), claims.map(({ lease }) => lease), leaseMs],
  });
  return rows.map(({ id }) => id);
}

/** Ends the lease; the fetch is due again after `delayMs`. False when it is no longer held under this claim. */
export async function releaseFetch(
  sql: Sql,
  { shard, id, lease }: FetchClaim,
  { tries, spentMs, delayMs }: { tries: number; spentMs: number; delayMs: number },
): Promise<boolean> {
  const released = await sql.run({
    name: 'release_fetch',
    text: `
      with clock as (
        select clock_timestamp() + $6 * interval '1 millisecond' as due_at
      )
      update audio_fetches
      set holder = null, tries = $4, spent_ms = $5, next_at = (select due_at from clock)
      where shard = $1 and job_id = $2 and lease = $3 and holder is not null`,
    values: [shard, id, lease, tries, Math.round(spentMs), delayMs],
  });
  if (released === 1 && delayMs === 0) notifyFetchDue(sql);
  return released === 1;
}

/**
 * Makes the fetches of processes that have ended due, and returns their number. They begin again; no try is counted.
 * @param holders  the prefix of the holders' names: of one process, or of all processes of a node
 */
export async function returnFetchesOf(sql: Sql, holders: string): Promise<number> {
  const returned = await sql.run({
    text: `
      -- every shard: a process holds leases in all shards
      with clock as (
        select clock_timestamp() as moment
      )
      update audio_fetches
      set holder = null, next_at = (select moment from clock)
      where starts_with(holder, $1)`,
    values: [holders],
  });
  if (returned > 0) notifyFetchDue(sql);
  return returned;
}

/**
 * The job of a fetch, locked for the rest of the transaction, and the database's time. Null when it was canceled or its
 * audio is stored.
 */
export async function lockFetchedJob(tx: Sql, { shard, id }: JobKey): Promise<(Job & { moment: Date }) | null> {
  const rows = await tx.rows<Job & { moment: Date }>({
    name: 'lock_fetched_job',
    text: `
      select ${JOB_COLUMNS}, clock_timestamp() as moment
      from jobs
      where shard = $1 and id = $2 and state = 'queued' and audio_key is null
      for update`,
    values: [shard, id],
  });
  return rows[0] ?? null;
}

/** Deletes a fetch with its URL and headers. False when it is no longer held under this claim. */
export async function deleteFetch(tx: Sql, { shard, id, lease }: FetchClaim): Promise<boolean> {
  const deleted = await tx.run({
    name: 'delete_fetch',
    text: `
      delete from audio_fetches
      where shard = $1 and job_id = $2 and lease = $3`,
    values: [shard, id, lease],
  });
  return deleted === 1;
}

/** The audio of a job that was fetched, and what is held for it. */
export type FetchedAudioOfJob = Pick<ClaimedJob, 'format' | 'sizeBytes' | 'tracks' | 'durationMs' | 'heldUnits'> & {
  key: string;
  /** The server's name for the file; null keeps the name from the URL. */
  filename: string | null;
};

/** Gives a locked job its audio, counts it among its account's waiting jobs and notifies the transcribers. */
export async function storeFetchedAudio(
  tx: Sql,
  { shard, id }: JobKey,
  { key, filename, format, sizeBytes, tracks, durationMs, heldUnits }: FetchedAudioOfJob,
): Promise<void> {
  await tx.run({
    name: 'store_fetched_audio',
    text: `
      with stored as (
        update jobs
        set audio_key = $3, format = $4, size_bytes = $5, duration_ms = $6, held_units = $7, tracks = $8::jsonb,
          filename = coalesce($9, filename)
        where shard = $1 and id = $2 and state = 'queued' and audio_key is null
        returning shard, account_id
      )
      insert into job_queues as queue (shard, account_id, waiting)
      select shard, account_id, 1
      from stored
      on conflict (shard, account_id) do update
      set waiting = queue.waiting + 1`,
    values: [shard, id, key, format, sizeBytes, durationMs, heldUnits, JSON.stringify(tracks), filename],
  });
  notifyDue(tx);
  notifyChanged(tx, id);
}

/** The last fetches, over all shards, with what is sealed for their jobs. */
export async function listLastRequests(sql: Sql, limit: number): Promise<{ jobId: string; request: Buffer }[]> {
  return await sql.rows({
    text: `
      -- every shard: the key is one for all
      select job_id as "jobId", request
      from audio_fetches
      order by shard desc, job_id desc
      limit $1`,
    values: [limit],
  });
}
