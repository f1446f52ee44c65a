import type { Sql } from '../../db/database.ts';
import type { StoredKey } from '../../rules/idempotency.ts';

/** A key of an account, or of the operator (`admin` in shard 0). */
export type KeyName = { shard: number; accountId: string; key: string };

/** A leased key. A later request gets a higher lease number, after which writes under this one are rejected. */
export type LeasedKey = KeyName & { lease: number };

export type SavedAnswer = {
  status: number;
  /** Null for an answer without a body, and for one that was deleted together with its job. */
  contentType: string | null;
  location: string | null;
  /** Encrypted; null for an answer without a body, and for one whose body is written again from its job. */
  body: Buffer | null;
};

/** A stored key; `answer` is null while there is none. */
export type LockedKey = StoredKey & { lease: number; answer: SavedAnswer | null };

// For a request that was not answered before its job was erased.
const STATUS_OF_ERASED = 409;

type Times = { leaseMs: number; keepMs: number };

/** Leases a new key. False when the key exists. */
export async function insertKey(
  sql: Sql,
  { shard, accountId, key }: KeyName,
  { route, leaseMs, keepMs }: { route: string } & Times,
): Promise<boolean> {
  const inserted = await sql.run({
    name: 'insert_idempotency_key',
    text: `
      insert into idempotency_keys (shard, account_id, key, route, state, lease, lease_ends_at, expires_at)
      values ($1, $2, $3, $4, 'running', 1,
        clock_timestamp() + $5 * interval '1 millisecond', clock_timestamp() + $6 * interval '1 millisecond')
      on conflict do nothing`,
    values: [shard, accountId, key, route, leaseMs, keepMs],
  });
  return inserted > 0;
}

/** Number of stored keys of an account, counted up to `limit`. */
export async function countKeys(sql: Sql, { shard, accountId }: Omit<KeyName, 'key'>, limit: number): Promise<number> {
  const [row] = await sql.rows<{ keys: number }>({
    name: 'count_idempotency_keys',
    text: `
      select count(*) as keys
      from (
        select 1
        from idempotency_keys
        where shard = $1 and account_id = $2
        limit $3
      ) as stored`,
    values: [shard, accountId, limit],
  });
  return row!.keys;
}

/** A stored key and its answer, locked until the transaction ends; null when it was deleted in the meantime. */
export async function lockKey(
  tx: Sql,
  { shard, accountId, key }: KeyName,
  now: Date | null = null,
): Promise<LockedKey | null> {
  const rows = await tx.rows<StoredKey & SavedAnswer & { lease: number }>({
    name: 'lock_idempotency_key',
    text: `
      select route, fingerprint, lease, job_id as "jobId", state = 'answered' as "isAnswered",
        lease_ends_at <= coalesce($4::timestamptz, clock_timestamp()) as "isLeaseOver",
        expires_at <= coalesce($4::timestamptz, clock_timestamp()) as "isExpired",
        status, content_type as "contentType", location, body
      from idempotency_keys
      where shard = $1 and account_id = $2 and key = $3
      for update`,
    values: [shard, accountId, key, now],
  });
  const [row] = rows;
  if (!row) return null;
  const { status, contentType, location, body, ...stored } = row;
  return { ...stored, answer: stored.isAnswered ? { status, contentType, location, body } : null };
}

/** Leases a locked key and deletes what earlier requests stored under it. */
export async function restartKey(
  tx: Sql,
  { shard, accountId, key, lease }: LeasedKey,
  { route, leaseMs, keepMs }: { route: string } & Times,
): Promise<void> {
  await tx.run({
    text: `
      with clock as (select clock_timestamp() as now)
      update idempotency_keys
      set route = $5, state = 'running', lease = lease + 1, fingerprint = null, job_id = null,
        status = null, content_type = null, location = null, body = null,
        lease_ends_at = (select now from clock) + $6 * interval '1 millisecond',
        expires_at = (select now from clock) + $7 * interval '1 millisecond'
      where shard = $1 and account_id = $2 and key = $3 and lease = $4`,
    values: [shard, accountId, key, lease, route, leaseMs, keepMs],
  });
}

/** Leases a locked key whose process crashed, and leaves what its request stored. */
export async function takeOverKey(
  tx: Sql,
  { shard, accountId, key, lease }: LeasedKey,
  leaseMs: number,
): Promise<void> {
  await tx.run({
    text: `
      with clock as (select clock_timestamp() as now)
      update idempotency_keys
      set lease = lease + 1, lease_ends_at = (select now from clock) + $5 * interval '1 millisecond'
      where shard = $1 and account_id = $2 and key = $3 and lease = $4 and state = 'running'`,
    values: [shard, accountId, key, lease, leaseMs],
  });
}

/** Stores the job that the request creates, in the transaction that creates it. False when the lease was lost. */
export async function setJob(
  tx: Sql,
  { shard, accountId, key, lease }: LeasedKey,
  { jobId, fingerprint }: { jobId: string; fingerprint: string },
): Promise<boolean> {
  const bound = await tx.run({
    name: 'bind_idempotency_key',
    text: `
      update idempotency_keys
      set job_id = $5, fingerprint = $6
      where shard = $1 and account_id = $2 and key = $3 and lease = $4 and state = 'running'`,
    values: [shard, accountId, key, lease, jobId, fingerprint],
  });
  return bound > 0;
}

/** Saves the answer, for `keepMs` from now on. False when the lease was lost. */
export async function saveAnswer(
  sql: Sql,
  { shard, accountId, key, lease }: LeasedKey,
  answer: SavedAnswer & { fingerprint: string; keepMs: number },
): Promise<boolean> {
  const saved = await sql.run({
    name: 'keep_idempotent_answer',
    text: `
      with clock as (select clock_timestamp() as now)
      update idempotency_keys
      set state = 'answered', fingerprint = $5, status = $6, content_type = $7, location = $8, body = $9,
        expires_at = (select now from clock) + $10 * interval '1 millisecond'
      where shard = $1 and account_id = $2 and key = $3 and lease = $4 and state = 'running'`,
    values: [
      shard,
      accountId,
      key,
      lease,
      answer.fingerprint,
      answer.status,
      answer.contentType,
      answer.location,
      answer.body,
      answer.keepMs,
    ],
  });
  return saved > 0;
}

/** Releases a key: without a job it is deleted, with a job its lease ends and the next request may acquire it. */
export async function releaseKey(tx: Sql, { shard, accountId, key, lease }: LeasedKey): Promise<void> {
  const values = [shard, accountId, key, lease];
  await tx.run({
    text: `
      delete from idempotency_keys
      where shard = $1 and account_id = $2 and key = $3 and lease = $4 and state = 'running' and job_id is null`,
    values,
  });
  await tx.run({
    text: `
      with clock as (select clock_timestamp() as now)
      update idempotency_keys
      set lease_ends_at = (select now from clock)
      where shard = $1 and account_id = $2 and key = $3 and lease = $4 and state = 'running'`,
    values,
  });
}

/** Renews all leases of a process, in one statement. */
export async function renewLeases(sql: Sql, leases: LeasedKey[], leaseMs: number): Promise<void> {
  await sql.run({
    text: `
      with clock as (select clock_timestamp() as now)
      update idempotency_keys as keys
      set lease_ends_at = (select now from clock) + $5 * interval '1 millisecond'
      from unnest($1::smallint[], $2::text[], $3::text[], $4::integer[]) as leases (shard, account_id, key, lease)
      where keys.shard = any($1::smallint[]) and keys.shard = leases.shard and keys.account_id = leases.account_id and keys.key = leases.key
        and keys.lease = leases.lease and keys.state = 'running'`,
    values: [
      leases.map((key) => key.shard),
      leases.map((key) => key.accountId),
      leases.map((key) => key.key),
      leases.map((key) => key.lease),
      leaseMs,
    ],
  });
}

/**
 * Deletes the saved answers that show a job, when the job is erased. Their keys remain: a repeated request must not
 * make the job again.
 */
export async function deleteAnswersOfJob(tx: Sql, { shard, jobId }: { shard: number; jobId: string }): Promise<void> {
  await tx.run({
    name: 'delete_answers_of_job',
    text: `
      update idempotency_keys
      set state = 'answered', status = coalesce(status, $3), content_type = null, location = null, body = null
      where shard = $1 and job_id = $2`,
    values: [shard, jobId, STATUS_OF_ERASED],
  });
}

/** Deletes at most `limit` expired keys of a shard that are not leased. Returns how many. */
export async function deleteExpiredKeys(
  sql: Sql,
  { shard, limit, now }: { shard: number; limit: number; now: Date | null },
): Promise<number> {
  return await sql.run({
    name: 'delete_expired_keys',
    text: `
      with expired as materialized (
        select account_id, key
        from idempotency_keys
        where shard = $1 and expires_at <= coalesce($2::timestamptz, clock_timestamp())
          and (state = 'answered' or lease_ends_at <= coalesce($2::timestamptz, clock_timestamp()))
        order by expires_at
        limit $3
        for update skip locked
      )
      delete from idempotency_keys as keys
      using expired
      where keys.shard = $1 and keys.account_id = expired.account_id and keys.key = expired.key`,
    values: [shard, now, limit],
  });
}

/** The last answers that can still be sent again, over all shards. */
export async function listLastAnswers(sql: Sql, limit: number): Promise<(KeyName & { body: Buffer })[]> {
  return await sql.rows({
    text: `
      -- every shard: the key is one for all
      select shard, account_id as "accountId", key, body
      from idempotency_keys
      where body is not null and expires_at > clock_timestamp()
      order by shard desc, account_id desc, key desc
      limit $1`,
    values: [limit],
  });
}

/** Deletes at most `limit` keys of an account. Returns how many. */
export async function deleteKeysOfAccount(
  sql: Sql,
  { shard, id }: { shard: number; id: string },
  limit: number,
): Promise<number> {
  return await sql.run({
    text: `
      delete from idempotency_keys
      where shard = $1 and account_id = $2 and key = any(array(
        select key
        from idempotency_keys
        where shard = $1 and account_id = $2
        order by key
        limit $3
      ))`,
    values: [shard, id, limit],
  });
}
