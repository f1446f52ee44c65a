import type { Sql } from '../../db/database.ts';
import type { EventType } from './event-types.ts';

type NewEvent = {
  shard: number;
  id: string;
  accountId: string;
  type: EventType;
  jobId: string | null;
  body: Buffer;
  createdAt: Date;
};

/** To whom an event is sent: the webhooks that subscribe to its type, or one webhook alone, whether or not it subscribes. */
type Receivers = { webhookId: string | null; firstDelayMs: number; now: Date | null };

/** SQL of an id that is made from the event's and the webhook's: with the time of the event's. */
const ID_FROM_EVENT = (prefix: 'dl' | 'dlv') =>
  `'${prefix}_' || substring($2::text from 5 for 10) || left(encode(sha256(convert_to('${prefix}' || $2 || id, 'UTF8')), 'hex'), 16)`;

/**
 * Inserts an event, and one waiting delivery for each active webhook that gets it, due after `firstDelayMs`. An event for
 * one webhook alone is inserted only if that webhook is active. Returns the number of deliveries.
 */
export async function insertEvent(sql: Sql, event: NewEvent, receivers: Receivers): Promise<number> {
  const [row] = await sql.rows<{ deliveries: number }>({
    name: 'insert_event',
    isBrief: true,
    text: `
      with receivers as materialized (
        select id
        from webhooks
        where shard = $1 and account_id = $3 and active and case when $8::text is null then $4 = any(events) else id = $8 end
      ),
      event as (
        insert into events (shard, id, account_id, type, job_id, body, created_at)
        select $1, $2, $3, $4, $5, $6, $7
        where $8 is null or exists (select from receivers)
      ),
      inserted as (
        insert into deliveries
          (shard, id, account_id, webhook_id, event_id, event_type, state, attempt_id, next_at, created_at)
        select $1, ${ID_FROM_EVENT('dl')}, $3, id, $2, $4, 'waiting', ${ID_FROM_EVENT('dlv')},
          coalesce($9::timestamptz, clock_timestamp()) + $10 * interval '1 millisecond', $7
        from receivers
        returning webhook_id
      )
      select count(*) as deliveries
      from inserted`,
    values: [
      event.shard,
      event.id,
      event.accountId,
      event.type,
      event.jobId,
      event.body,
      event.createdAt,
      receivers.webhookId,
      receivers.now,
      receivers.firstDelayMs,
    ],
  });
  return row!.deliveries;
}

/** Makes the deliverers look for due deliveries of the shard. */
export function notifyDeliveriesDue(sql: Sql, shard: number): void {
  sql.notify('deliveries_due', String(shard));
}

/** The events of a job: one, or none. */
export async function findEventsOfJob(
  tx: Sql,
  { shard, jobId }: { shard: number; jobId: string },
): Promise<{ id: string; type: EventType; createdAt: Date }[]> {
  return await tx.rows({
    text: `
      select id, type, created_at as "createdAt"
      from events
      where shard = $1 and job_id = $2`,
    values: [shard, jobId],
  });
}

/** Replaces the body of an event. Only for erasing a job: otherwise a body never changes. */
export async function replaceEventBody(
  tx: Sql,
  { shard, id, body }: { shard: number; id: string; body: Buffer },
): Promise<void> {
  await tx.run({
    text: `
      update events
      set body = $3
      where shard = $1 and id = $2`,
    values: [shard, id, body],
  });
}
