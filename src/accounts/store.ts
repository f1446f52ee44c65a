import type { Sql } from '../db/sql.ts';
import type { Account } from '../http/route.ts';
import { LANE_COUNT, laneOf } from '../rules/lane.ts';

export { addCredit, captureForJob, holdForJob, releaseForJob } from './ledger-store.ts';
export { admit } from './rate-store.ts';

/** An account and its balance, in units (see rules/price.ts): `amount` can be spent, `held` is set aside for jobs. */
export type AccountRow = Account & { amount: number; held: number; createdAt: Date };

/** A key without its secret part, which is never stored. */
export type KeyRow = { id: string; name: string | null; prefix: string; createdAt: Date };

const ACCOUNT_COLUMNS = 'id, lane, name, plan, unlimited, amount, held, created_at as "createdAt"';
const EVERY_LANE = Array.from({ length: LANE_COUNT }, (_, lane) => lane);

/**
 * Whose key this is; null for a key that nobody has. Asked at every request: a key that was revoked is refused at once.
 * Keys are looked up by hash alone, before the lane is known, so a sharded database keeps this table whole on each node.
 * @param hash  SHA-256 of the key, 32 bytes
 */
export async function findAccountByKeyHash(sql: Sql, hash: Buffer): Promise<Account | null> {
  const rows = await sql.rows<Account>({
    name: 'find_account_by_key_hash',
    text: `
      select accounts.id, accounts.lane, accounts.name, accounts.plan, accounts.unlimited
      from api_keys
      join accounts on accounts.lane = api_keys.lane and accounts.id = api_keys.account_id
      where api_keys.hash = $1`,
    values: [hash],
  });
  return rows[0] ?? null;
}

/** @param units  null for an unlimited account; else its first credit, entered in the ledger in the same statement */
export async function insertAccount(
  sql: Sql,
  account: { id: string; name: string; plan: Account['plan']; units: number | null; ledgerId: string },
  now: Date | null = null,
): Promise<AccountRow> {
  const rows = await sql.rows<AccountRow>({
    text: `
      with account as (
        insert into accounts (lane, id, name, plan, unlimited, amount, created_at)
        values ($1, $2, $3, $4, $5::bigint is null, coalesce($5, 0), coalesce($7::timestamptz, clock_timestamp()))
        returning *
      ), entry as (
        insert into ledger (lane, id, account_id, kind, amount_change, held_change, created_at)
        select lane, $6, id, 'credit', amount, 0, created_at
        from account
        where amount <> 0
      )
      select ${ACCOUNT_COLUMNS} from account`,
    values: [laneOf(account.id), account.id, account.name, account.plan, account.units, account.ledgerId, now],
  });
  return rows[0]!;
}

export async function findAccount(sql: Sql, id: string): Promise<AccountRow | null> {
  const rows = await sql.rows<AccountRow>({
    name: 'find_account',
    text: `select ${ACCOUNT_COLUMNS} from accounts where lane = $1 and id = $2`,
    values: [laneOf(id), id],
  });
  return rows[0] ?? null;
}

/** Newest first, over all lanes: an operator's list, not a hot one. @param beforeId  null for the first page */
export async function listAccounts(sql: Sql, limit: number, beforeId: string | null): Promise<AccountRow[]> {
  return await sql.rows<AccountRow>({
    text: `
      select ${ACCOUNT_COLUMNS}
      from accounts
      where lane = any($1) and ($2::text is null or id < $2)
      order by id desc
      limit $3`,
    values: [EVERY_LANE, beforeId, limit],
  });
}

/** Changes what is not null; null if there is no such account. */
export async function updateAccount(
  sql: Sql,
  id: string,
  change: { name: string | null; plan: Account['plan'] | null },
): Promise<AccountRow | null> {
  const rows = await sql.rows<AccountRow>({
    text: `
      update accounts
      set name = coalesce($3, name), plan = coalesce($4, plan)
      where lane = $1 and id = $2
      returning ${ACCOUNT_COLUMNS}`,
    values: [laneOf(id), id, change.name, change.plan],
  });
  return rows[0] ?? null;
}

/** Null if there is no such account. @param key.hash  SHA-256 of the whole key */
export async function insertKey(
  sql: Sql,
  accountId: string,
  key: { id: string; name: string | null; prefix: string; hash: Buffer },
  now: Date | null = null,
): Promise<KeyRow | null> {
  const rows = await sql.rows<KeyRow>({
    text: `
      insert into api_keys (lane, id, account_id, name, prefix, hash, created_at)
      select lane, $3, id, $4, $5, $6, coalesce($7::timestamptz, clock_timestamp())
      from accounts
      where lane = $1 and id = $2
      returning id, name, prefix, created_at as "createdAt"`,
    values: [laneOf(accountId), accountId, key.id, key.name, key.prefix, key.hash, now],
  });
  return rows[0] ?? null;
}

/** Newest first. @param beforeId  null for the first page */
export async function listKeys(sql: Sql, accountId: string, limit: number, beforeId: string | null): Promise<KeyRow[]> {
  return await sql.rows<KeyRow>({
    text: `
      select id, name, prefix, created_at as "createdAt"
      from api_keys
      where lane = $1 and account_id = $2 and ($3::text is null or id < $3)
      order by id desc
      limit $4`,
    values: [laneOf(accountId), accountId, beforeId, limit],
  });
}

/** Whether there was such a key. Its account is not named in the request, so every lane is asked. */
export async function deleteKey(sql: Sql, id: string): Promise<boolean> {
  return (
    (await sql.run({ text: 'delete from api_keys where lane = any($1) and id = $2', values: [EVERY_LANE, id] })) > 0
  );
}
