import type { Sql } from '../../db/database.ts';

/** Attempts whose time has come and that are not under way. A retry that waits for its time is healthy and not counted. */
export type Backlog = { due: number; oldestDueSeconds: number };

/** Every shard: asked when metrics are read, never by the worker. */
export async function measureDeliveryBacklog(sql: Sql, now: Date | null = null): Promise<Backlog> {
  const rows = await sql.rows<Backlog>({
    name: 'measure_delivery_backlog',
    text: `
      -- every shard: a figure for the operator
      select count(*) as due,
        coalesce(extract(epoch from coalesce($1::timestamptz, clock_timestamp()) - min(next_at)), 0)::float8 as "oldestDueSeconds"
      from deliveries
      where state = 'waiting' and next_at <= coalesce($1::timestamptz, clock_timestamp())
        and id not in (
          select delivery_id
          from delivery_leases
          where ends_at > coalesce($1::timestamptz, clock_timestamp())
        )`,
    values: [now],
  });
  return rows[0]!;
}
