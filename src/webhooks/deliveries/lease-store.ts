import type { Sql } from '../../db/database.ts';

/**
 * Ends the leases of processes that have ended: their deliveries are due again at once, with the same attempt number.
 * Returns how many.
 * @param holders  the beginning of the holders' names: one process, or all of a node
 */
export async function releaseLeasesOf(sql: Sql, holders: string, now: Date | null = null): Promise<number> {
  const released = await sql.rows({
    text: `
      with released as (
        -- every shard: the processes sent for all accounts
        update delivery_leases
        set ends_at = coalesce($2::timestamptz, clock_timestamp())
        where starts_with(holder, $1) and ends_at > coalesce($2::timestamptz, clock_timestamp())
        returning shard
      )
      select shard, pg_notify('deliveries_due', shard::text)
      from released`,
    values: [holders, now],
  });
  return released.length;
}
