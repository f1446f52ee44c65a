import type { Sql } from '../../db/database.ts';

/**
 * Due deliveries, those in flight included. Retries that wait for their time are not counted, nor the deliveries of
 * webhooks with a limit per second, which wait as their owners want, nor those of suspended accounts. The oldest is
 * that of a webhook whose last attempt did not fail: deliveries to a receiver that hangs wait for each other.
 */
export type Backlog = { due: number; oldestDueSeconds: number };

/** Counts the backlog of all shards, for the metrics. */
export async function measureDeliveryBacklog(sql: Sql, now: Date | null = null): Promise<Backlog> {
  const rows = await sql.rows<Backlog>({
    name: 'measure_delivery_backlog',
    text: `
      -- every shard: a figure for the operator
      select count(*) as due,
        coalesce(extract(epoch from coalesce($1::timestamptz, clock_timestamp())
          - min(d.next_at) filter (where coalesce(w.consecutive_failures, 0) = 0)), 0)::float8 as "oldestDueSeconds"
      from deliveries d
      left join webhooks w on w.shard = d.shard and w.id = d.webhook_id
      where d.next_at <= coalesce($1::timestamptz, clock_timestamp()) and w.max_per_second is null
        and not exists (
          select from accounts a
          where a.shard = d.shard and a.id = d.account_id and a.suspended_at is not null
        )`,
    values: [now],
  });
  return rows[0]!;
}
