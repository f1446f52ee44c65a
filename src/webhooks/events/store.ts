import type { Sql } from '../../db/database.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import type { EventType } from './event-types.ts';

export type NewEvent = {
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
  `'${prefix}_' || substring($eventId::text from 5 for 10) || left(encode(sha256(convert_to('${prefix}' || $eventId || id, 'UTF8')), 'hex'), 16)`;

/**
 * The CTEs `receivers`, `event` and `delivery` of a statement on one shard. They insert an event, and one waiting delivery
 * for each active webhook that gets it, due after `$firstDelayMs`. An event for one webhook alone is inserted only if that
 * webhook is active. The parameters' values are those of `eventValues`.
 * @param condition  SQL: nothing is inserted unless it is true
 */
export const insertEventIf = (condition: string): string => `
      receivers as materialized (
        select id
        from webhooks
        where shard = $shard and account_id = $accountId and active
          and case when $webhookId::text is null then $eventType = any(events) else id = $webhookId end
          and ${condition}
      ), event as (
        insert into events (shard, id, account_id, type, job_id, webhook_id, body, created_at)
        select $shard::smallint, $eventId, $accountId, $eventType, $jobId, $webhookId, $body, $eventCreatedAt
        where ($webhookId is null or exists (select from receivers)) and ${condition}
      ), delivery as (
        insert into deliveries
          (shard, id, account_id, webhook_id, event_id, event_type, attempt_id, next_at, created_at)
        select $shard::smallint, ${ID_FROM_EVENT('dl')}, $accountId, id, $eventId, $eventType, ${ID_FROM_EVENT('dlv')},
          coalesce($deliverAfter::timestamptz, clock_timestamp()) + $firstDelayMs * interval '1 millisecond', $eventCreatedAt
        from receivers
        returning webhook_id
      )`;

/** The values of `insertEventIf`. */
export function eventValues({ id, type, createdAt, ...event }: NewEvent, receivers: Receivers) {
  const { webhookId, firstDelayMs, now } = receivers;
  return {
    ...event,
    eventId: id,
    eventType: type,
    eventCreatedAt: createdAt,
    webhookId,
    firstDelayMs,
    deliverAfter: now,
  };
}

const INSERT_EVENT = defineStatement(
  { name: 'insert_event' },
  `
      with ${insertEventIf('true')}
      select count(*) as deliveries
      from delivery`,
);

/** Inserts an event and its deliveries, see `insertEventIf`. Returns the number of deliveries. */
export async function insertEvent(sql: Sql, event: NewEvent, receivers: Receivers): Promise<number> {
  const [row] = await sql.rows<{ deliveries: number }>(INSERT_EVENT(eventValues(event, receivers)));
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
