import type { Sql } from '../../db/database.ts';
import type { StoredKey } from '../../rules/idempotency.ts';

/** Whose key: an account's, or the operator's (`admin` in shard 0). */
export type KeyName = { shard: number; accountId: string; key: string };

/** A key as this process holds it: whoever takes it later gets another lease, and this one's word no longer counts. */
export type HeldKey = KeyName & { lease: number };

export type KeptAnswer = {
  status: number;
  contentType: string | null;
  location: string | null;
  /** Sealed; null for an answer without a body, and for one that is written anew from its job. */
  body: Buffer | null;
};

type Times = { leaseMs: number; keepMs: number };

/** Takes a key that nobody has used. Whether it was one. */
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

/** How many keys of an account are kept, counted up to `limit`. */
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
      ) as kept`,
    values: [shard, accountId, limit],
  });
  return row!.keys;
}

/** A used key and its answer, locked until the transaction ends; null when it is gone meanwhile. */
export async function lockKey(
  tx: Sql,
  { shard, accountId, key }: KeyName,
  now: Date | null = null,
): Promise<(StoredKey & { lease: number; answer: KeptAnswer | null }) | null> {
  const rows = await tx.rows<StoredKey & KeptAnswer & { lease: number }>({
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

/** Takes a locked key as if nobody had used it. */
export async function takeKeyAnew(
  tx: Sql,
  { shard, accountId, key, lease }: HeldKey,
  { route, leaseMs, keepMs }: { route: string } & Times,
): Promise<void> {
  await tx.run({
    text: `
      update idempotency_keys
      set route = $5, state = 'running', lease = lease + 1, fingerprint = null, job_id = null,
        status = null, content_type = null, location = null, body = null,
        lease_ends_at = clock_timestamp() + $6 * interval '1 millisecond',
        expires_at = clock_timestamp() + $7 * interval '1 millisecond'
      where shard = $1 and account_id = $2 and key = $3 and lease = $4`,
    values: [shard, accountId, key, lease, route, leaseMs, keepMs],
  });
}

/** Takes a locked key over from a process that died, with what its request made. */
export async function takeKeyOver(tx: Sql, { shard, accountId, key, lease }: HeldKey, leaseMs: number): Promise<void> {
  await tx.run({
    text: `
      update idempotency_keys
      set lease = lease + 1, lease_ends_at = clock_timestamp() + $5 * interval '1 millisecond'
      where shard = $1 and account_id = $2 and key = $3 and lease = $4 and state = 'running'`,
    values: [shard, accountId, key, lease, leaseMs],
  });
}

/** Notes the job that the request makes, in the transaction that makes it. Whether the key is still held. */
export async function bindKey(
  tx: Sql,
  { shard, accountId, key, lease }: HeldKey,
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

/** Keeps the first answer, for `keepMs` from now on. Whether the key was still held. */
export async function keepAnswer(
  sql: Sql,
  { shard, accountId, key, lease }: HeldKey,
  answer: KeptAnswer & { fingerprint: string; keepMs: number },
): Promise<boolean> {
  const kept = await sql.run({
    name: 'keep_idempotent_answer',
    text: `
      update idempotency_keys
      set state = 'answered', fingerprint = $5, status = $6, content_type = $7, location = $8, body = $9,
        expires_at = clock_timestamp() + $10 * interval '1 millisecond'
      where shard = $1 and account_id = $2 and key = $3 and lease = $4 and state = 'running'`,
    values: [
      ...[shard, accountId, key, lease, answer.fingerprint],
      ...[answer.status, answer.contentType, answer.location, answer.body, answer.keepMs],
    ],
  });
  return kept > 0;
}

/** Gives a key back: one that made nothing is forgotten, one that made a job waits for the next request to ask. */
export async function letKeyGo(tx: Sql, { shard, accountId, key, lease }: HeldKey): Promise<void> {
  const values = [shard, accountId, key, lease];
  await tx.run({
    text: `
      delete from idempotency_keys
      where shard = $1 and account_id = $2 and key = $3 and lease = $4 and state = 'running' and job_id is null`,
    values,
  });
  await tx.run({
    text: `
      update idempotency_keys
      set lease_ends_at = clock_timestamp()
      where shard = $1 and account_id = $2 and key = $3 and lease = $4 and state = 'running'`,
    values,
  });
}

/** Moves the leases of all keys that a process holds, in one statement. */
export async function renewKeys(sql: Sql, held: HeldKey[], leaseMs: number): Promise<void> {
  await sql.run({
    text: `
      update idempotency_keys as keys
      set lease_ends_at = clock_timestamp() + $5 * interval '1 millisecond'
      from unnest($1::smallint[], $2::text[], $3::text[], $4::integer[]) as held (shard, account_id, key, lease)
      where keys.shard = held.shard and keys.account_id = held.account_id and keys.key = held.key
        and keys.lease = held.lease and keys.state = 'running'`,
    values: [
      held.map((key) => key.shard),
      held.map((key) => key.accountId),
      held.map((key) => key.key),
      held.map((key) => key.lease),
      leaseMs,
    ],
  });
}

/** Forgets at most `limit` keys whose time is over, except such as are held. Returns how many. */
export async function deleteExpiredKeys(
  sql: Sql,
  { limit, now }: { limit: number; now: Date | null },
): Promise<number> {
  return await sql.run({
    text: `
      -- every shard: a sweep by age
      delete from idempotency_keys
      where (shard, account_id, key) in (
        select shard, account_id, key
        from idempotency_keys
        where expires_at <= coalesce($1::timestamptz, clock_timestamp())
          and (state = 'answered' or lease_ends_at <= coalesce($1::timestamptz, clock_timestamp()))
        order by expires_at
        limit $2
        for update skip locked)`,
    values: [now, limit],
  });
}
