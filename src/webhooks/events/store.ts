import type { Sql } from '../../db/database.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import { plainArray } from '../../db/statements/plain-array.ts';
import { IS_OF_ACCOUNT, WEBHOOK_ID_OF_JOB } from '../../db/statements/webhook-ids.ts';
import { makeId, systemClock } from '../../platform/clock.ts';
import { timeOfId } from '../../rules/ids.ts';
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

type Timing = {
  /** The wait before the first attempt. */
  firstDelayMs: number;
  /** Null: the database's clock. */
  now: Date | null;
};

/** SQL of an id that is made from the event's and the webhook's: with the time of the event's. */
const ID_FROM_EVENT = (prefix: 'dl' | 'dlv') =>
  `'${prefix}_' || substring($eventId::text from 5 for 10) || left(encode(sha256(convert_to('${prefix}' || $eventId || id, 'UTF8')), 'hex'), 16)`;

/**
 * The CTEs `receivers`, `event` and `delivery` of a statement on one shard. They insert an event, and one waiting delivery
 * for each webhook of the account, and of the event's job, that is active and subscribes to its type, due after `$firstDelayMs`. The parameters' values are those of
 * `eventValues`.
 * @param condition  SQL: nothing is inserted unless it is true
 */
export const insertEventIf = (condition: string): string => `
      receivers as materialized (
        select id
        from webhooks
        where shard = $shard and account_id = $accountId and ${IS_OF_ACCOUNT} and active and $eventType = any(events)
          and ${condition}
        union all
        select id
        from webhooks
        where shard = $shard and id = ${WEBHOOK_ID_OF_JOB('$jobId::text')} and active and $eventType = any(events)
          and ${condition}
      ), event as (
        insert into events (shard, id, account_id, type, job_id, body, created_at)
        select $shard::smallint, $eventId, $accountId, $eventType, $jobId, $body, $eventCreatedAt
        where ${condition}
      ), delivery as (
        insert into deliveries
          (shard, id, account_id, webhook_id, event_id, event_type, attempt_id, next_at, created_at)
        select $shard::smallint, ${ID_FROM_EVENT('dl')}, $accountId, id, $eventId, $eventType, ${ID_FROM_EVENT('dlv')},
          coalesce($deliverAfter::timestamptz, clock_timestamp()) + $firstDelayMs * interval '1 millisecond', $eventCreatedAt
        from receivers
        returning webhook_id
      )`;

/** The values of `insertEventIf`. */
export function eventValues({ id, type, createdAt, ...event }: NewEvent, { firstDelayMs, now }: Timing) {
  return { ...event, eventId: id, eventType: type, eventCreatedAt: createdAt, firstDelayMs, deliverAfter: now };
}

const INSERT_EVENT = defineStatement(
  { name: 'insert_event' },
  `
      with ${insertEventIf('true')}
      select count(*) as deliveries
      from delivery`,
);

/** Inserts an event and its deliveries, see `insertEventIf`. Returns the number of deliveries. */
export async function insertEvent(sql: Sql, event: NewEvent, timing: Timing): Promise<number> {
  const [row] = await sql.rows<{ deliveries: number }>(INSERT_EVENT(eventValues(event, timing)));
  return row!.deliveries;
}

/** A test of one webhook, which gets the event whether or not it subscribes to the type. */
export type NewTest = { event: NewEvent; webhookId: string };

/**
 * Inserts tests of any shards in one statement, each with a delivery, and notifies the deliverers. Left out are those of
 * webhooks that are not active, or not there. Returns the ids of the events.
 */
export async function insertTests(sql: Sql, tests: NewTest[], { firstDelayMs, now }: Timing): Promise<Set<string>> {
  const shards = tests.map(({ event }) => event.shard);
  const mayNotify = sql.mayNotify();
  const rows = await sql.rows<{ shard: number; eventId: string }>({
    name: mayNotify ? 'insert_tests_and_notify' : 'insert_tests',
    text: `
      with active as materialized (
        select account_id || ' ' || id as webhook
        from webhooks
        where shard = any($1::smallint[]) and id = any($2::text[]) and active
      ), test as materialized (
        select *
        from unnest($3::smallint[], $2::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::float8[], $9::text[], $10::text[])
          as t (shard, webhook_id, account_id, event_id, event_type, body, created_at_ms, delivery_id, attempt_id)
        where account_id || ' ' || webhook_id = any(array(select webhook from active))
      ), event as (
        insert into events (shard, id, account_id, type, webhook_id, body, created_at)
        select shard, event_id, account_id, event_type, webhook_id, body, to_timestamp(created_at_ms / 1000)
        from test
      )
      insert into deliveries
        (shard, id, account_id, webhook_id, event_id, event_type, attempt_id, next_at, created_at)
      select shard, delivery_id, account_id, webhook_id, event_id, event_type, attempt_id,
        coalesce($11::timestamptz, clock_timestamp()) + $12 * interval '1 millisecond', to_timestamp(created_at_ms / 1000)
      from test
      returning shard, event_id as "eventId"${mayNotify ? `, ${NOTIFY_DELIVERIES_DUE('shard')}` : ''}`,
    values: [
      plainArray([...new Set(shards)]),
      plainArray(tests.map(({ webhookId }) => webhookId)),
      plainArray(shards),
      plainArray(tests.map(({ event }) => event.accountId)),
      plainArray(tests.map(({ event }) => event.id)),
      plainArray(tests.map(({ event }) => event.type)),
      tests.map(({ event }) => event.body),
      plainArray(tests.map(({ event }) => event.createdAt.getTime())),
      plainArray(tests.map(({ event }) => idOfDelivery('dl', event.id))),
      plainArray(tests.map(({ event }) => idOfDelivery('dlv', event.id))),
      now,
      firstDelayMs,
    ],
  });
  if (!mayNotify) for (const shard of new Set(rows.map((row) => row.shard))) notifyDeliveriesDue(sql, shard);
  return new Set(rows.map(({ eventId }) => eventId));
}

/** A fresh id with the time of the event's, by which a delivery is told from one of an event that is sent again. */
function idOfDelivery(prefix: 'dl' | 'dlv', eventId: string): string {
  return makeId(prefix, { ...systemClock, now: () => timeOfId(eventId) });
}

/** Makes the deliverers look for due deliveries of the shard. */
export function notifyDeliveriesDue(sql: Sql, shard: number): void {
  sql.notify('deliveries_due', String(shard));
}

/** SQL that does the same in a statement that may notify. @param shard  SQL of the shard */
export const NOTIFY_DELIVERIES_DUE = (shard: string) => `pg_notify('deliveries_due', ${shard}::text)`;

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
