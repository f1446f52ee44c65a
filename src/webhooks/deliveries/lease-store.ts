import type { Sql } from '../../db/database.ts';
import type { ClaimedDelivery } from './claim-store.ts';
import { NEXT_ID } from './claim-store.ts';

/**
 * Ends the leases of processes that have ended. Their deliveries are due again at once, with the same attempt number.
 * Returns the number of leases.
 * @param holders  prefix of the holders' names: one process, or all processes of a node
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

/** Identifies a claim. */
export type Claim = Pick<ClaimedDelivery, 'id' | 'webhookId' | 'eventId' | 'attemptId'>;

/**
 * Ends leases of deliveries that were not sent, with the same attempt number. Returns how many leases were still held.
 * @param delayMs  time until the deliveries are due again; null for now
 */
export async function handBackDeliveries(
  sql: Sql,
  {
    shard,
    claims,
    delayMs = null,
    now = null,
  }: { shard: number; claims: Claim[]; delayMs?: number | null; now?: Date | null },
): Promise<number> {
  return await sql.run({
    name: 'hand-back-deliveries',
    text: `with claims as materialized (
        select *
        from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as c (webhook_id, event_id, id, attempt_id)
      ),
      ended as (
        delete from delivery_leases l
        using claims c
        where l.shard = $1 and l.webhook_id = c.webhook_id and l.delivery_id = c.id and l.attempt_id = c.attempt_id
        returning c.*
      )
      update deliveries d
      -- The attempt may have been sent under the old id.
      set attempt_id = ${NEXT_ID('d.attempt_id')},
        next_at = coalesce(coalesce($7::timestamptz, clock_timestamp()) + $6::float8 * interval '1 millisecond', d.next_at)
      from ended c
      where d.shard = $1 and d.event_id = c.event_id and d.id = c.id`,
    values: [
      shard,
      claims.map((claim) => claim.webhookId),
      claims.map((claim) => claim.eventId),
      claims.map((claim) => claim.id),
      claims.map((claim) => claim.attemptId),
      delayMs,
      now,
    ],
  });
}
