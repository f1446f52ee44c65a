import type { Sql } from '../db/database.ts';
import { shardOf } from '../rules/shard.ts';
import type { Account } from './account.ts';

type AccountKey = Pick<Account, 'shard' | 'id'>;

/** Makes an account one that does not exist for the API, without its name; null when there is no such account. */
export async function markDeleted(sql: Sql, id: string): Promise<AccountKey | null> {
  const rows = await sql.rows<AccountKey>({
    text: `
      with clock as (
        select clock_timestamp() as moment
      )
      update accounts
      set deleted_at = (select moment from clock), name = ''
      where shard = $1 and id = $2 and deleted_at is null
      returning shard, id`,
    values: [shardOf(id), id],
  });
  return rows[0] ?? null;
}

/** An account that was deleted, and whether its row is to be deleted too. */
export type DeletedAccount = AccountKey & { isOver: boolean };

/** Accounts that were deleted; `isOver` where that was `keepMs` ago. */
export async function findDeletedAccounts(
  sql: Sql,
  { keepMs, after, limit }: { keepMs: number; after: AccountKey | null; limit: number },
): Promise<DeletedAccount[]> {
  return await sql.rows({
    text: `
      -- every shard: few accounts are deleted
      select shard, id, deleted_at <= clock_timestamp() - $1 * interval '1 millisecond' as "isOver"
      from accounts
      where deleted_at is not null and (shard, id) > ($2::smallint, $3)
      order by shard, id
      limit $4`,
    values: [keepMs, after?.shard ?? -1, after?.id ?? '', limit],
  });
}

/** Deletes the row of an account that was deleted before. */
export async function deleteAccountRow(sql: Sql, { shard, id }: AccountKey): Promise<void> {
  await sql.run({
    text: 'delete from accounts where shard = $1 and id = $2 and deleted_at is not null',
    values: [shard, id],
  });
}

/** Deletes at most `limit` entries of an account's ledger. Returns how many. */
export async function deleteLedgerOf(sql: Sql, { shard, id }: AccountKey, limit: number): Promise<number> {
  return await sql.run({
    text: `
      delete from ledger
      where shard = $1 and account_id = $2 and number = any(array(
        select number
        from ledger
        where shard = $1 and account_id = $2
        order by number
        limit $3
      ))`,
    values: [shard, id, limit],
  });
}
