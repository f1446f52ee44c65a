import type { Sql } from '../../db/database.ts';

export type LedgerOwner = { shard: number; id: string };

/** Accounts with a balance, in order, after an id; '' for the first. */
export async function listLimitedAccounts(
  sql: Sql,
  { shard, afterId, limit }: { shard: number; afterId: string; limit: number },
): Promise<LedgerOwner[]> {
  return await sql.rows<LedgerOwner>({
    text: `
      select shard, id
      from accounts
      where shard = $1 and id > $2 and not unlimited and deleted_at is null
      order by id
      limit $3`,
    values: [shard, afterId, limit],
  });
}

/**
 * Adds the account's next ledger entries to the sums of its check, at most `limit` of them. Returns how many there
 * were. Entries are committed in the order of their numbers, so none is passed over. When two nodes do this at once,
 * one of them changes the check.
 */
export async function advanceCheck(sql: Sql, account: LedgerOwner, limit: number): Promise<number> {
  const rows = await sql.rows<{ entries: number }>({
    text: `
      with start as (
        select coalesce((select through_number from ledger_checks where shard = $1 and account_id = $2), 0) as number
      ), slice as (
        select ledger.number, amount_change, held_change
        from ledger
        where shard = $1 and account_id = $2 and ledger.number > (select number from start)
        order by ledger.number
        limit $3
      ), total as (
        select max(number) as through_number, sum(amount_change) as amount, sum(held_change) as held, count(*) as entries
        from slice
      ), changed as (
        update ledger_checks as known
        set through_number = total.through_number, amount = known.amount + total.amount, held = known.held + total.held
        from total
        where known.shard = $1 and known.account_id = $2 and total.entries > 0
          and known.through_number = (select number from start)
      ), created as (
        insert into ledger_checks (shard, account_id, through_number, amount, held)
        select $1, $2, through_number, amount, held
        from total
        where entries > 0 and (select number from start) = 0
        on conflict do nothing
      )
      select entries from total`,
    values: [account.shard, account.id, limit],
  });
  return rows[0]!.entries;
}

/**
 * Whether the balance is what the check and the entries after it sum up to, at one instant. True for a deleted account.
 */
export async function sumsUp(sql: Sql, account: LedgerOwner): Promise<boolean> {
  const rows = await sql.rows<{ isRight: boolean }>({
    text: `
      select accounts.amount = coalesce(known.amount, 0) + coalesce(fresh.amount, 0)
        and accounts.held = coalesce(known.held, 0) + coalesce(fresh.held, 0) as "isRight"
      from accounts
      left join ledger_checks as known on known.shard = $1 and known.account_id = $2
      left join lateral (
        select sum(amount_change) as amount, sum(held_change) as held
        from ledger
        where shard = $1 and account_id = $2 and ledger.number > coalesce(known.through_number, 0)
      ) as fresh on true
      where accounts.shard = $1 and accounts.id = $2`,
    values: [account.shard, account.id],
  });
  return rows[0]?.isRight ?? true;
}

/** Deletes the account's check, if it has one: the next one sums the whole ledger. Returns how many. */
export async function forgetCheck(sql: Sql, account: LedgerOwner): Promise<number> {
  return await sql.run({
    text: 'delete from ledger_checks where shard = $1 and account_id = $2',
    values: [account.shard, account.id],
  });
}
