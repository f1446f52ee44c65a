import type { Sql } from '../src/db/database.ts';

/**
 * How many accounts have a balance that is not the sum of their ledger; anything but 0 is a bug of ours. One statement
 * sees one instant, so jobs that begin and end meanwhile do not disturb it. Every shard, in the background, seldom.
 */
export async function countDriftedAccounts(sql: Sql): Promise<number> {
  const rows = await sql.rows<{ drifted: number }>({
    text: `
      -- every shard: a figure for the operator
      select count(*) as drifted
      from accounts
      left join (
        select shard, account_id, sum(amount_change) as amount, sum(held_change) as held
        from ledger
        group by shard, account_id
      ) as entries on entries.shard = accounts.shard and entries.account_id = accounts.id
      where not accounts.unlimited
        and (accounts.amount <> coalesce(entries.amount, 0) or accounts.held <> coalesce(entries.held, 0))`,
  });
  return rows[0]!.drifted;
}
