import type { Sql } from '../../db/database.ts';
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

type NewDelivery = { id: string; attemptId: string; webhookId: string };

export async function insertEvent(tx: Sql, event: NewEvent): Promise<void> {
  await tx.run({
    name: 'insert-event',
    text: `insert into events (shard, id, account_id, type, job_id, body, created_at)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [event.shard, event.id, event.accountId, event.type, event.jobId, event.body, event.createdAt],
  });
}

/** Ids of the account's webhooks that are active and subscribed to the type at this moment. */
export async function findSubscribers(
  tx: Sql,
  { shard, accountId, type }: { shard: number; accountId: string; type: EventType },
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>({
    name: 'find-subscribers',
    text: `select id
      from webhooks
      where shard = $1 and account_id = $2 and active and $3 = any(events)
      order by id`,
    values: [shard, accountId, type],
  });
  return rows.map((row) => row.id);
}

/** One waiting delivery for each webhook named, due after `firstDelayMs`. */
export async function insertDeliveries(
  tx: Sql,
  event: NewEvent,
  deliveries: NewDelivery[],
  { firstDelayMs, now }: { firstDelayMs: number; now: Date | null },
): Promise<void> {
  await tx.run({
    name: 'insert-deliveries',
    text: `insert into deliveries
        (shard, id, account_id, webhook_id, event_id, event_type, state, attempt_id, next_at, created_at)
      select $1, d.id, $2, d.webhook_id, $3, $4, 'waiting', d.attempt_id,
        coalesce($5::timestamptz, clock_timestamp()) + $6 * interval '1 millisecond', $7
      from unnest($8::text[], $9::text[], $10::text[]) as d (id, attempt_id, webhook_id)`,
    values: [
      event.shard,
      event.accountId,
      event.id,
      event.type,
      now,
      firstDelayMs,
      event.createdAt,
      deliveries.map((delivery) => delivery.id),
      deliveries.map((delivery) => delivery.attemptId),
      deliveries.map((delivery) => delivery.webhookId),
    ],
  });
}

/** Wakes the deliverers when the transaction commits. */
export async function notifyDeliveriesDue(tx: Sql, shard: number): Promise<void> {
  await tx.run({ text: `select pg_notify('deliveries_due', $1)`, values: [String(shard)] });
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
