import type { Sql } from '../../db/database.ts';
import { type Role, scopesOfRole } from '../../rules/accounts/roles.ts';
import { shardOf } from '../../rules/shard.ts';
import type { AccountName } from '../keys/key-store.ts';

/**
 * A user in an account: a row of api_keys that has no key. What belongs to keys holds for it too: scopes, sessions,
 * streams, and what jobs and the audit log say of their author.
 */
export type Membership = { id: string; shard: number; accountId: string; userId: string; role: Role };

/** A membership with the user. */
export type MemberRow = Membership & {
  email: string;
  name: string;
  isOperator: boolean;
  createdAt: Date;
  /** At most a minute old; null: no request yet. */
  lastUsedAt: Date | null;
};

const COLUMNS = `api_keys.id, api_keys.shard, api_keys.account_id as "accountId", api_keys.user_id as "userId",
  api_keys.role`;
const MEMBER_COLUMNS = `${COLUMNS}, users.email, users.name, users.is_operator as "isOperator",
  api_keys.created_at as "createdAt", api_keys.last_used_at as "lastUsedAt"`;

/** Newest first. @param page.beforeId  a membership; null for the first page */
export async function listMembers(
  sql: Sql,
  accountId: string,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<MemberRow[]> {
  return await sql.rows<MemberRow>({
    text: `
      select ${MEMBER_COLUMNS}
      from api_keys
      join users on users.id = api_keys.user_id
      where api_keys.shard = $1 and api_keys.account_id = $2 and ($3::text is null or api_keys.id < $3)
      order by api_keys.id desc
      limit $4`,
    values: [shardOf(accountId), accountId, beforeId, limit],
  });
}

/** Null when the user is not in the account. */
export async function findMember(sql: Sql, accountId: string, userId: string): Promise<MemberRow | null> {
  const [row] = await sql.rows<MemberRow>({
    text: `
      select ${MEMBER_COLUMNS}
      from api_keys
      join users on users.id = api_keys.user_id
      where api_keys.shard = $1 and api_keys.account_id = $2 and api_keys.user_id = $3`,
    values: [shardOf(accountId), accountId, userId],
  });
  return row ?? null;
}

/** The accounts of a user: the one that was used last comes first. */
export async function listMemberships(sql: Sql, userId: string): Promise<Membership[]> {
  return await sql.rows<Membership>({
    text: `
      select ${COLUMNS}
      from api_keys
      where user_id = $1
      order by last_used_at desc nulls last, id desc`,
    values: [userId],
  });
}

export function accountOf({ shard, accountId: id }: Membership): AccountName {
  return { shard, id };
}

/** How many users an account has, and how many of them are owners. */
export async function countMembers(sql: Sql, { shard, id }: AccountName): Promise<{ all: number; owners: number }> {
  const [row] = await sql.rows<{ all: number; owners: number }>({
    text: `
      select count(*) as all, count(*) filter (where role = 'owner') as owners
      from api_keys
      where shard = $1 and account_id = $2 and user_id is not null`,
    values: [shard, id],
  });
  return row!;
}

export async function insertMember(tx: Sql, { id, shard, accountId, userId, role }: Membership): Promise<void> {
  await tx.run({
    text: `
      insert into api_keys (shard, id, account_id, user_id, role, scopes, prefix, created_at)
      values ($1, $2, $3, $4, $5, $6, '', clock_timestamp())`,
    values: [shard, id, accountId, userId, role, scopesOfRole(role)],
  });
}

export async function setRole(tx: Sql, { shard, id }: Pick<Membership, 'shard' | 'id'>, role: Role): Promise<void> {
  await tx.run({
    text: 'update api_keys set role = $3, scopes = $4 where shard = $1 and id = $2 and user_id is not null',
    values: [shard, id, role, scopesOfRole(role)],
  });
}

/** Deletes a membership with its sessions. */
export async function deleteMember(tx: Sql, { shard, id }: Pick<Membership, 'shard' | 'id'>): Promise<void> {
  await tx.run({
    text: 'delete from api_keys where shard = $1 and id = $2 and user_id is not null',
    values: [shard, id],
  });
}

/** The users of an account. */
export async function listUserIds(tx: Sql, { shard, id }: AccountName): Promise<string[]> {
  const rows = await tx.rows<{ userId: string }>({
    text: `
      select user_id as "userId"
      from api_keys
      where shard = $1 and account_id = $2 and user_id is not null`,
    values: [shard, id],
  });
  return rows.map(({ userId }) => userId);
}

/** Ends the sessions of a user in all accounts. @param exceptId  one that goes on; null: none */
export async function deleteSessionsOfUser(tx: Sql, userId: string, exceptId: string | null): Promise<void> {
  await tx.run({
    text: `
      delete from sessions
      using api_keys
      where api_keys.shard = sessions.shard and api_keys.id = sessions.key_id and api_keys.user_id = $1
        and sessions.id is distinct from $2::text`,
    values: [userId, exceptId],
  });
}
