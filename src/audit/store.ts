import type { Sql } from '../db/database.ts';
import type { ChangeLimit, CountedAs } from '../rules/accounts/change-limits.ts';
import type { AuditAction } from './actions.ts';

/** One change that an operator, a key or a user made. */
export type AuditRow = {
  id: string;
  accountId: string;
  /** A key, or the membership of a user. Null: the operator. */
  keyId: string | null;
  /** Of a session of a user. */
  userId: string | null;
  action: AuditAction;
  targetId: string;
  details: Record<string, unknown>;
  address: string;
  requestId: string;
  createdAt: Date;
};

/** `keyHash`: SHA-256 of a deleted key, which is never shown; null for other changes. */
type NewAuditRow = Omit<AuditRow, 'createdAt'> & { keyHash: Buffer | null; countedAs: CountedAs };

export async function insertChange(sql: Sql, change: NewAuditRow, now: Date | null = null): Promise<void> {
  await sql.run({
    name: 'insert_audit_row',
    text: `
      insert into audit_log
        (id, account_id, key_id, user_id, action, target_id, details, key_hash, address, request_id,
         counted_as, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12::timestamptz, clock_timestamp()))`,
    values: [
      change.id,
      change.accountId,
      change.keyId,
      change.userId,
      change.action,
      change.targetId,
      JSON.stringify(change.details),
      change.keyHash,
      change.address,
      change.requestId,
      change.countedAs,
      now,
    ],
  });
}

/** Seconds until the account has fewer entries within 24 hours than the limit permits; 0 for now. */
export async function secondsUntilFree(sql: Sql, accountId: string, limit: ChangeLimit): Promise<number> {
  const [row] = await sql.rows<{ seconds: number }>({
    name: 'audit_seconds_until_free',
    text: `
      select extract(epoch from created_at + interval '24 hours' - clock_timestamp())::float8 as seconds
      from audit_log
      where account_id = $1 and created_at > clock_timestamp() - interval '24 hours'
        and counted_as = any($3) and (key_id is not null or counted_as = 'event')
        and ($4::text is null or key_id = $4) and ($5::text is null or address = $5)
        and ($6::text is null or (action = $6 and target_id = $7))
      order by created_at desc
      offset $2
      limit 1`,
    values: [
      accountId,
      limit.most - 1,
      limit.countedAs,
      limit.keyId ?? null,
      limit.address ?? null,
      limit.event?.action ?? null,
      limit.event?.targetId ?? null,
    ],
  });
  return Math.max(0, row?.seconds ?? 0);
}

/** The key that was deleted; null where there is no such change. @param hash  SHA-256 of the key */
export async function findDeletedKey(
  sql: Sql,
  hash: Buffer,
): Promise<{ keyId: string; accountId: string; endedAt: Date } | null> {
  const [change] = await sql.rows<{ keyId: string; accountId: string; endedAt: Date }>({
    name: 'find_deleted_key',
    isBrief: true,
    text: `
      select target_id as "keyId", account_id as "accountId", created_at as "endedAt"
      from audit_log
      where key_hash = $1`,
    values: [hash],
  });
  return change ?? null;
}

/** Newest first, over all accounts or of one. @param page.beforeId  null for the first page */
export async function listChanges(
  sql: Sql,
  { accountId, action }: { accountId: string | null; action: AuditAction | null },
  page: { limit: number; beforeId: string | null },
): Promise<AuditRow[]> {
  return await sql.rows<AuditRow>({
    text: `
      select id, account_id as "accountId", key_id as "keyId", user_id as "userId", action, target_id as "targetId", details, address,
        request_id as "requestId", created_at as "createdAt"
      from audit_log
      where ($1::text is null or account_id = $1)
        and ($2::text is null or action = $2)
        and ($3::text is null or id < $3)
      order by id desc
      limit $4`,
    values: [accountId, action, page.beforeId, page.limit],
  });
}

/** Deletes at most `limit` entries that are `keepDays` old or older. Returns how many. */
export async function deleteOldChanges(
  sql: Sql,
  { keepDays, limit, now = null }: { keepDays: number; limit: number; now?: Date | null },
): Promise<number> {
  return await sql.run({
    text: `
      delete from audit_log
      where id = any(array(
        select id
        from audit_log
        where created_at <= coalesce($1::timestamptz, clock_timestamp()) - $2::float8 * interval '24 hours'
        order by created_at
        limit $3
      ))`,
    values: [now, keepDays, limit],
  });
}

/** Deletes at most `limit` entries of changes that the account's own keys made. Returns how many. */
export async function deleteChangesByKeysOf(sql: Sql, { id }: { id: string }, limit: number): Promise<number> {
  return await sql.run({
    text: `
      delete from audit_log
      where id = any(array(
        select id
        from audit_log
        where account_id = $1 and key_id is not null
        order by id
        limit $2
      ))`,
    values: [id, limit],
  });
}
