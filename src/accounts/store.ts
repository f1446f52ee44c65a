import type { Sql } from '../db/database.ts';
import type { Account } from '../http/route.ts';
import { LANE_COUNT, laneOf } from '../rules/shard.ts';

export { findCallerByKeyHash, findValidKeys } from './keys/key-store.ts';
export { addCredit, holdForJob, settleJob } from './ledger/ledger-store.ts';
export { admit } from './rate-limits/rate-store.ts';

/** An account and its balance, in units (see rules/price.ts): `amount` can be spent, `held` is set aside for jobs. */
export type AccountRow = Account & { amount: number; held: number; createdAt: Date };

const ACCOUNT_COLUMNS = 'id, lane, name, plan, unlimited, amount, held, created_at as "createdAt"';
const EVERY_LANE = Array.from({ length: LANE_COUNT }, (_, lane) => lane);

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

/** Whether anything is left to spend. @param account  a limited one */
export async function hasCredit(sql: Sql, { lane, id }: Pick<Account, 'lane' | 'id'>): Promise<boolean> {
  const rows = await sql.rows({
    name: 'has_credit',
    text: 'select from accounts where lane = $1 and id = $2 and amount > 0',
    values: [lane, id],
  });
  return rows.length > 0;
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
