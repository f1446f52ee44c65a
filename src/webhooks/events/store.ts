import type { Config } from '../../config/settings.ts';
import type { Sql } from '../../db/database.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import { IS_OF_ACCOUNT, WEBHOOK_ID_OF_JOB } from '../../db/statements/webhook-ids.ts';
import { alertsWebhookIdOf, idTime } from '../../rules/ids.ts';
import type { EmittedType, EventType } from './event-types.ts';
import { MAY_RECEIVE } from './may-receive.ts';

export type NewEvent = {
  shard: number;
  id: string;
  accountId: string;
  type: EmittedType;
  jobId: string | null;
  body: Buffer;
  createdAt: Date;
  /** Of the request that made the job; null without one. */
  traceparent: string | null;
};

const HASH = (prefix: string) => `left(encode(sha256(convert_to('${prefix}' || $eventId || id, 'UTF8')), 'hex'), 16)`;

// SQL of ids that follow from the event's and the webhook's. That of a delivery has the time of the event's id, by
// which it is told apart from one that sends the event again; that of its first attempt the time at which the event was
// created.
const DELIVERY_ID = `'dl_' || substring($eventId::text from 5 for 10) || ${HASH('dl')}`;
const ATTEMPT_ID = `'dlv_' || $eventTime::text || ${HASH('dlv')}`;

const TYPE = '$eventType::text';
const GETS_EVENT_OF_JOB = MAY_RECEIVE('id', { type: TYPE, jobId: '$jobId::text', testedId: 'null' });
const GETS_TEST = MAY_RECEIVE('id', { type: TYPE, jobId: 'null', testedId: '$webhookId::text' });
const GETS_ALERT = MAY_RECEIVE('id', { type: TYPE, jobId: 'null', testedId: 'null' });

/**
 * CTEs of a statement on one shard. They insert an event, and one waiting delivery
 * for each webhook of the account, and of the event's job, that is active and subscribes to its type, due after
 * `$firstDelayMs`. The parameters' values are those of `eventValues`.
 * @param condition  SQL: nothing is inserted unless it is true
 */
export const insertEventIf = (condition: string): string => `
      receivers as materialized (
        select id
        from webhooks
        where shard = $shard and account_id = $accountId and ${IS_OF_ACCOUNT} and active and $eventType = any(events)
          and ${GETS_EVENT_OF_JOB} and ${condition}
        union all
        select id
        from webhooks
        where shard = $shard and id = ${WEBHOOK_ID_OF_JOB('$jobId::text')} and active and $eventType = any(events)
          and ${GETS_EVENT_OF_JOB} and ${condition}
      ), event as (
        insert into events (shard, id, account_id, type, job_id, body, traceparent, created_at)
        select $shard::smallint, $eventId, $accountId, $eventType, $jobId, $body, $traceparent, $eventCreatedAt
        where ${condition}
      ), delivery as (
        insert into deliveries
          (shard, id, account_id, webhook_id, event_id, event_type, attempt_id, next_at, created_at)
        select $shard::smallint, ${DELIVERY_ID}, $accountId, id, $eventId, $eventType, ${ATTEMPT_ID},
          coalesce($deliverAfter::timestamptz, clock_timestamp()) + $firstDelayMs * interval '1 millisecond', $eventCreatedAt
        from receivers
        returning id
      )`;

/** SQL behind `insertEventIf`: the ids of the deliveries that it inserts. */
export const DELIVERIES_INSERTED = `(select coalesce(array_agg(id), '{}') from delivery)`;

/**
 * The values of `insertEventIf`. The first attempt is due WEBHOOK_RETRY_DELAYS's first delay after the database's
 * present time.
 */
export function eventValues({ id, type, createdAt, ...event }: NewEvent, { webhookRetryDelaysMs }: Config) {
  return {
    ...event,
    eventId: id,
    eventType: type,
    eventCreatedAt: createdAt,
    eventTime: idTime(createdAt.getTime()),
    firstDelayMs: webhookRetryDelaysMs[0]!,
    deliverAfter: null,
  };
}

/**
 * Inserts a test of a webhook, which gets the event whether or not it subscribes to the type, and notifies the
 * deliverers. False when the webhook is not active, is gone, or may not get the type.
 */
export async function insertTest(
  sql: Sql,
  { event, webhookId }: { event: NewEvent; webhookId: string },
  config: Config,
): Promise<boolean> {
  const values = { ...eventValues(event, config), webhookId };
  const inserted = await sql.run(INSERT_TEST(values));
  if (inserted > 0) notifyDeliveriesDue(sql, event.shard);
  return inserted > 0;
}

const INSERT_TEST = defineStatement(
  { name: 'insert_test' },
  `
      with receiver as materialized (
        select id
        from webhooks
        where shard = $shard and account_id = $accountId and id = $webhookId and active and ${GETS_TEST}
      ), event as (
        insert into events (shard, id, account_id, type, webhook_id, body, created_at)
        select $shard::smallint, $eventId, $accountId, $eventType, id, $body, $eventCreatedAt
        from receiver
      )
      insert into deliveries
        (shard, id, account_id, webhook_id, event_id, event_type, attempt_id, next_at, created_at)
      select $shard::smallint, ${DELIVERY_ID}, $accountId, id, $eventId, $eventType, ${ATTEMPT_ID},
        clock_timestamp() + $firstDelayMs * interval '1 millisecond', $eventCreatedAt
      from receiver`,
);

/** Inserts an alert, and a delivery to the account's webhook for alerts, if it has one that is active. */
export async function insertAlert(tx: Sql, { createdAt, ...event }: NewEvent): Promise<void> {
  const { shard, accountId, type, body } = event;
  const webhookId = alertsWebhookIdOf(accountId);
  await tx.run(
    INSERT_ALERT({
      shard,
      accountId,
      webhookId,
      body,
      eventId: event.id,
      eventType: type,
      eventCreatedAt: createdAt,
      eventTime: idTime(createdAt.getTime()),
    }),
  );
}

const INSERT_ALERT = defineStatement(
  { name: 'insert_alert' },
  `
      with event as (
        insert into events (shard, id, account_id, type, body, created_at)
        select $shard::smallint, $eventId, $accountId, $eventType, $body, $eventCreatedAt
      )
      insert into deliveries
        (shard, id, account_id, webhook_id, event_id, event_type, attempt_id, next_at, created_at)
      select $shard::smallint, ${DELIVERY_ID}, $accountId, id, $eventId, $eventType, ${ATTEMPT_ID},
        clock_timestamp(), $eventCreatedAt
      from webhooks
      where shard = $shard and id = $webhookId and active and ${GETS_ALERT}`,
);

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
