import type { Sql } from '../db/database.ts';
import { SHARD_COUNT, shardOf } from '../rules/shard.ts';
import type { Account } from './account.ts';

/** An account and its balance, in units (rules/jobs/price.ts): `amount` can be spent, `held` is kept for jobs. */
export type AccountRow = Account & { amount: number; held: number; createdAt: Date; suspendedAt: Date | null };

const ACCOUNT_COLUMNS =
  'id, shard, name, plan, unlimited, amount, held, created_at as "createdAt", suspended_at as "suspendedAt"';
const EVERY_SHARD = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);

/** @param units  null for an unlimited account; else its first credit, entered in the ledger in the same statement */
export async function insertAccount(
  sql: Sql,
  account: { id: string; name: string; plan: Account['plan']; units: number | null; ledgerId: string },
  now: Date | null = null,
): Promise<AccountRow> {
  const rows = await sql.rows<AccountRow>({
    text: `
      with account as (
        insert into accounts (shard, id, name, plan, unlimited, amount, ledger_number, created_at)
        values ($1, $2, $3, $4, $5::bigint is null, coalesce($5, 0), case when $5 <> 0 then 1 else 0 end,
          coalesce($7::timestamptz, clock_timestamp()))
        returning *
      ), entry as (
        insert into ledger
          (shard, id, account_id, number, kind, amount_change, held_change, amount_after, held_after, created_at)
        select shard, $6, id, ledger_number, 'credit', amount, 0, amount, 0, created_at
        from account
        where amount <> 0
      )
      select ${ACCOUNT_COLUMNS} from account`,
    values: [shardOf(account.id), account.id, account.name, account.plan, account.units, account.ledgerId, now],
  });
  return rows[0]!;
}

export async function findAccount(sql: Sql, id: string): Promise<AccountRow | null> {
  const rows = await sql.rows<AccountRow>({
    name: 'find_account',
    isBrief: true,
    text: `select ${ACCOUNT_COLUMNS} from accounts where shard = $1 and id = $2 and deleted_at is null`,
    values: [shardOf(id), id],
  });
  return rows[0] ?? null;
}

/** Locks an account until the transaction ends, and gives its plan; null when there is no such account. */
export async function lockAccount(
  tx: Sql,
  { shard, id }: Pick<Account, 'shard' | 'id'>,
): Promise<Account['plan'] | null> {
  const rows = await tx.rows<Pick<Account, 'plan'>>({
    text: 'select plan from accounts where shard = $1 and id = $2 and deleted_at is null for update',
    values: [shard, id],
  });
  return rows[0]?.plan ?? null;
}

/** What is left to spend, in units. @param account  a limited one */
export async function readAmount(sql: Sql, { shard, id }: Pick<Account, 'shard' | 'id'>): Promise<number> {
  const [row] = await sql.rows<{ amount: number }>({
    name: 'read_amount',
    isBrief: true,
    text: 'select amount from accounts where shard = $1 and id = $2',
    values: [shard, id],
  });
  return row?.amount ?? 0;
}

/**
 * Newest first, over all shards: an operator's list, not a hot one.
 * @param query  part of the name, in any case, or the beginning of the id; null: all
 * @param beforeId  null for the first page
 */
export async function listAccounts(
  sql: Sql,
  { query, limit, beforeId }: { query: string | null; limit: number; beforeId: string | null },
): Promise<AccountRow[]> {
  return await sql.rows<AccountRow>({
    text: `
      select ${ACCOUNT_COLUMNS}
      from accounts
      where shard = any($1) and deleted_at is null and ($2::text is null or id < $2)
        and ($4::text is null or position(lower($4) in lower(name)) > 0 or starts_with(id, $4))
      order by id desc
      limit $3`,
    values: [EVERY_SHARD, beforeId, limit, query],
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
      where shard = $1 and id = $2 and deleted_at is null
      returning ${ACCOUNT_COLUMNS}`,
    values: [shardOf(id), id, change.name, change.plan],
  });
  return rows[0] ?? null;
}

/**
 * Suspends an account, or ends that; null if there is no such account.
 * One that is suspended stays so since the first time.
 */
export async function setSuspended(sql: Sql, id: string, isSuspended: boolean): Promise<AccountRow | null> {
  const rows = await sql.rows<AccountRow>({
    text: `
      with clock as (
        select case when $3::boolean then clock_timestamp() end as moment
      )
      update accounts
      set suspended_at = case when $3 and suspended_at is not null then suspended_at else (select moment from clock) end
      where shard = $1 and id = $2 and deleted_at is null
      returning ${ACCOUNT_COLUMNS}`,
    values: [shardOf(id), id, isSuspended],
  });
  return rows[0] ?? null;
}

/** Those of the accounts that are not suspended, by their ids. */
export async function findUnsuspended(
  sql: Sql,
  accounts: readonly Pick<Account, 'shard' | 'id'>[],
): Promise<Set<string>> {
  const rows = await sql.rows<{ id: string }>({
    name: 'find_unsuspended',
    isBrief: true,
    text: `
      select id
      from accounts
      where shard = any($1::smallint[]) and id = any($2::text[]) and suspended_at is null`,
    values: [accounts.map(({ shard }) => shard), accounts.map(({ id }) => id)],
  });
  return new Set(rows.map(({ id }) => id));
}

/** The names of those accounts that exist, by their ids. */
export async function findNames(
  sql: Sql,
  accounts: readonly Pick<Account, 'shard' | 'id'>[],
): Promise<Map<string, string>> {
  const rows = await sql.rows<Pick<Account, 'id' | 'name'>>({
    text: 'select id, name from accounts where shard = any($1::smallint[]) and id = any($2::text[]) and deleted_at is null',
    values: [accounts.map(({ shard }) => shard), accounts.map(({ id }) => id)],
  });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The number of accounts in all shards, for the operator. */
export async function countAccounts(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ accounts: number }>({
    text: 'select count(*) as accounts from accounts where shard = any($1) and deleted_at is null',
    values: [EVERY_SHARD],
  });
  return row!.accounts;
}
