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
      where shard = $1 and id > $2 and not unlimited
      order by id
      limit $3`,
    values: [shard, afterId, limit],
  });
}

/**
 * Adds the account's next ledger entries to the sums of its check, at most `limit` of them, none younger than `minAgeMs`.
 * Returns how many there were. When two nodes do this at once, one of them changes the check.
 */
export async function advanceCheck(
  sql: Sql,
  account: LedgerOwner,
  { limit, minAgeMs }: { limit: number; minAgeMs: number },
): Promise<number> {
  const rows = await sql.rows<{ entries: number }>({
    text: `
      with start as (
        select coalesce((select through_id from ledger_checks where shard = $1 and account_id = $2), '') as id
      ), slice as (
        select ledger.id, amount_change, held_change
        from ledger
        where shard = $1 and account_id = $2 and ledger.id > (select id from start)
          and created_at < clock_timestamp() - $4 * interval '1 millisecond'
        order by ledger.id
        limit $3
      ), total as (
        select max(id) as through_id, sum(amount_change) as amount, sum(held_change) as held, count(*) as entries
        from slice
      ), changed as (
        update ledger_checks as known
        set through_id = total.through_id, amount = known.amount + total.amount, held = known.held + total.held
        from total
        where known.shard = $1 and known.account_id = $2 and total.entries > 0
          and known.through_id = (select id from start)
      ), created as (
        insert into ledger_checks (shard, account_id, through_id, amount, held)
        select $1, $2, through_id, amount, held
        from total
        where entries > 0 and (select id from start) = ''
        on conflict do nothing
      )
      select entries from total`,
    values: [account.shard, account.id, limit, minAgeMs],
  });
  return rows[0]!.entries;
}

/** Whether the balance is what the check and the entries after it sum up to, at one instant. True for a deleted account. */
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
        where shard = $1 and account_id = $2 and ledger.id > coalesce(known.through_id, '')
      ) as fresh on true
      where accounts.shard = $1 and accounts.id = $2`,
    values: [account.shard, account.id],
  });
  return rows[0]?.isRight ?? true;
}

/** Deletes the account's check: the next one sums the whole ledger. */
export async function forgetCheck(sql: Sql, account: LedgerOwner): Promise<void> {
  await sql.run({
    text: 'delete from ledger_checks where shard = $1 and account_id = $2',
    values: [account.shard, account.id],
  });
}
