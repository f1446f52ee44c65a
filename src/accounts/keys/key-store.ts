import type { Sql } from '../../db/database.ts';
import type { Scope } from '../../rules/accounts/scopes.ts';
import { SHARD_COUNT, shardOf } from '../../rules/shard.ts';

/** A key without its secret part, which is never stored. */
export type KeyRow = {
  id: string;
  name: string | null;
  prefix: string;
  /** Empty: all. */
  scopes: Scope[];
  createdAt: Date;
  expiresAt: Date | null;
  /** At most a minute old. */
  lastUsedAt: Date | null;
  /** The user who made it; null: another key, the operator, or a user who is gone. */
  createdBy: string | null;
  /** The name of that user. */
  createdByName: string | null;
};

const KEY_COLUMNS = `api_keys.id, api_keys.name, api_keys.prefix, api_keys.scopes, api_keys.created_at as "createdAt",
  api_keys.expires_at as "expiresAt", api_keys.last_used_at as "lastUsedAt", api_keys.created_by as "createdBy"`;
const EVERY_SHARD = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);
// A key's use is written only when the stored time is older than this: at most twice a minute per key.
export const USE_NOTED_SECONDS = 30;

/** Names an account; `shard` is that of its id. */
export type AccountName = { shard: number; id: string };

/** The ids of those keys that are neither revoked nor expired. */
export async function findValidKeys(
  sql: Sql,
  keys: readonly { shard: number; id: string }[],
  { scope = null, now = null }: { scope?: Scope | null; now?: Date | null } = {},
): Promise<Set<string>> {
  const rows = await sql.rows<{ id: string }>({
    name: 'find_valid_keys',
    isBrief: true,
    text: `
      select api_keys.id
      from unnest($1::smallint[], $2::text[]) as asked (shard, id)
      join api_keys on api_keys.shard = asked.shard and api_keys.id = asked.id
      where (api_keys.expires_at is null or api_keys.expires_at > coalesce($3::timestamptz, statement_timestamp()))
        and ($4::text is null or api_keys.scopes = '{}' or $4 = any(api_keys.scopes))`,
    values: [keys.map(({ shard }) => shard), keys.map(({ id }) => id), now, scope],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Stores that a key is used now, unless a use was stored within the last 30 s. */
export async function noteKeyUse(
  sql: Sql,
  { shard, id }: { shard: number; id: string },
  now: Date | null = null,
): Promise<void> {
  await sql.run({
    name: 'note_key_use',
    text: `
      update api_keys
      set last_used_at = coalesce($3::timestamptz, statement_timestamp())
      where shard = $1 and id = $2
        and (last_used_at is null or
          last_used_at <= coalesce($3::timestamptz, statement_timestamp()) - $4 * interval '1 second')`,
    values: [shard, id, now, USE_NOTED_SECONDS],
  });
}

/** Without the keys of links to the console, and memberships. */
export async function countKeys(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql.rows<{ keys: number }>({
    text: 'select count(*) as keys from api_keys where shard = $1 and account_id = $2 and not is_portal and user_id is null',
    values: [shardOf(accountId), accountId],
  });
  return row!.keys;
}

/** The keys of links to the console, also of those that have expired and are not deleted yet. */
export async function countPortalKeys(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql.rows<{ keys: number }>({
    text: 'select count(*) as keys from api_keys where shard = $1 and account_id = $2 and is_portal',
    values: [shardOf(accountId), accountId],
  });
  return row!.keys;
}

/** Deletes the keys of the account's links to the console that have expired. */
export async function deleteEndedPortalKeys(sql: Sql, accountId: string, now: Date | null = null): Promise<void> {
  await sql.run({
    text: `
      delete from api_keys
      where shard = $1 and account_id = $2 and is_portal
        and expires_at <= coalesce($3::timestamptz, statement_timestamp())`,
    values: [shardOf(accountId), accountId, now],
  });
}

/** Deletes at most `limit` keys of an account, whatever they are. Returns how many. */
export async function deleteKeysOfAccount(sql: Sql, { shard, id }: AccountName, limit: number): Promise<number> {
  return await sql.run({
    text: `
      delete from api_keys
      where shard = $1 and id = any(array(
        select id
        from api_keys
        where shard = $1 and account_id = $2
        limit $3
      ))`,
    values: [shard, id, limit],
  });
}

export type NewKey = {
  id: string;
  name: string | null;
  prefix: string;
  /** SHA-256 of the whole key. */
  hash: Buffer;
  scopes: readonly Scope[];
  expiresAt: Date | null;
  /** The key of a link to the console; absent: no. */
  isPortal?: boolean;
  /** The link's key with which this one ends; absent: it ends by itself. */
  createdByKey?: string | null;
  /** Absent: no user makes it. */
  createdBy?: { id: string; name: string } | null;
};

/** Null if there is no such account. */
export async function insertKey(
  sql: Sql,
  accountId: string,
  key: NewKey,
  now: Date | null = null,
): Promise<KeyRow | null> {
  const rows = await sql.rows<KeyRow>({
    text: `
      insert into api_keys
        (shard, id, account_id, name, prefix, hash, scopes, expires_at, is_portal, created_by_key, created_by, created_at)
      select shard, $3, id, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12::timestamptz, clock_timestamp())
      from accounts
      where shard = $1 and id = $2 and deleted_at is null
      returning ${KEY_COLUMNS}`,
    values: [
      shardOf(accountId),
      accountId,
      key.id,
      key.name,
      key.prefix,
      key.hash,
      key.scopes,
      key.expiresAt,
      key.isPortal ?? false,
      key.createdByKey ?? null,
      key.createdBy?.id ?? null,
      now,
    ],
  });
  return rows[0] ? { ...rows[0], createdByName: key.createdBy?.name ?? null } : null;
}

/** Newest first. @param beforeId  null for the first page */
export async function listKeys(sql: Sql, accountId: string, limit: number, beforeId: string | null): Promise<KeyRow[]> {
  return await sql.rows<KeyRow>({
    text: `
      select ${KEY_COLUMNS}, users.name as "createdByName"
      from api_keys
      left join users on users.id = api_keys.created_by
      where api_keys.shard = $1 and api_keys.account_id = $2 and api_keys.user_id is null
        and ($3::text is null or api_keys.id < $3)
      order by api_keys.id desc
      limit $4`,
    values: [shardOf(accountId), accountId, beforeId, limit],
  });
}

/** `endsWith`: the link's key. `createdBy`: a user, or null. */
type LockedKey = { scopes: Scope[]; createdBy: string | null; endsWith: string | null };

/**
 * The scopes of a key, and the link's key with which the keys that it makes end. The key cannot be deleted before the
 * end of the transaction. Null when there is none.
 */
export async function lockKey(tx: Sql, accountId: string, id: string): Promise<LockedKey | null> {
  const [row] = await tx.rows<LockedKey>({
    text: `
      select scopes, created_by as "createdBy", case when is_portal then id else created_by_key end as "endsWith"
      from api_keys
      where shard = $1 and account_id = $2 and id = $3
      for update`,
    values: [shardOf(accountId), accountId, id],
  });
  return row ?? null;
}

/** A key that was deleted. `hash`: SHA-256 of it. */
export type DeletedKey = { id: string; accountId: string; hash: Buffer };

/** Deletes the keys that end with this key of a link. */
export async function deleteKeysMadeBy(tx: Sql, accountId: string, id: string): Promise<DeletedKey[]> {
  return await tx.rows<DeletedKey>({
    text: `
      delete from api_keys
      where shard = $1 and account_id = $2 and created_by_key = $3
      returning id, account_id as "accountId", hash`,
    values: [shardOf(accountId), accountId, id],
  });
}

/** Null when there was none. @param accountId  null: of any account */
export async function deleteKey(sql: Sql, id: string, accountId: string | null): Promise<DeletedKey | null> {
  const rows = await sql.rows<DeletedKey>({
    text: `
      delete from api_keys
      where shard = any($1) and id = $2 and ($3::text is null or account_id = $3) and user_id is null
      returning id, account_id as "accountId", hash`,
    values: [accountId === null ? EVERY_SHARD : [shardOf(accountId)], id, accountId],
  });
  return rows[0] ?? null;
}

/** The present names of users and keys, by id; without those that are gone or have none. */
export async function findNamesOfActors(
  sql: Sql,
  { userIds, keyIds, shards }: { userIds: readonly string[]; keyIds: readonly string[]; shards: readonly number[] },
): Promise<Map<string, string>> {
  type Named = { id: string; name: string };
  const users = 'select id, name from users where id = any($1)';
  const keys = 'select id, name from api_keys where shard = any($2) and id = any($1) and name is not null';
  const found = [
    ...(userIds.length === 0 ? [] : await sql.rows<Named>({ text: users, values: [userIds] })),
    ...(keyIds.length === 0 ? [] : await sql.rows<Named>({ text: keys, values: [keyIds, shards] })),
  ];
  return new Map(found.map(({ id, name }) => [id, name]));
}
