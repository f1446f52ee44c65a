import type { Database, Sql } from '../../db/database.ts';
import { timeOfId } from '../../rules/ids.ts';
import { lockClaims } from './claim-store.ts';

// Limits how long a transaction holds its locks.
const DROP_LIMIT = 1_000;

type Dropped = {
  id: string;
  accountId: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  attemptId: string;
  attempt: number;
  url: string | null;
};

const DROPPED = `d.id, d.account_id as "accountId", d.webhook_id as "webhookId", d.event_id as "eventId",
  d.event_type as "eventType", d.attempt_id as "attemptId", d.attempt`;

const IS_NOT_IN_FLIGHT = `not exists (
  select from delivery_leases l
  where l.shard = $1 and l.webhook_id = d.webhook_id and l.delivery_id = d.id
)`;

type DropRequest = { shard: number; now?: Date | null };
type WebhookDropRequest = DropRequest & { webhookId: string; url: string };

/**
 * Drops and logs the waiting deliveries of a webhook that was disabled or deleted, in several transactions. Deliveries in
 * flight are not dropped: their result settles them. After a crash, the rest is dropped when it is due.
 */
export async function dropAllWaiting(db: Database, request: WebhookDropRequest): Promise<void> {
  while ((await db.transaction((tx) => dropSomeWaiting(tx, request))) === DROP_LIMIT) {}
}

async function dropSomeWaiting(tx: Sql, { shard, webhookId, url, now = null }: WebhookDropRequest): Promise<number> {
  await lockClaims(tx, shard);
  const dropped = await tx.rows<Dropped>({
    text: `select ${DROPPED}, $3::text as url
      from deliveries d
      where d.shard = $1 and d.webhook_id = $2 and d.state = 'waiting' and ${IS_NOT_IN_FLIGHT}
        -- When the webhook was enabled again meanwhile, its deliveries are newer.
        and not exists (select from webhooks w where w.shard = $1 and w.id = $2 and w.active)
      limit $4
      for update`,
    values: [shard, webhookId, url, DROP_LIMIT],
  });
  return await drop(tx, dropped, { shard, now });
}

/** Drops the waiting deliveries of a job's events, in the transaction that erases the job, except those in flight. */
export async function dropWaitingOfJob(tx: Sql, { shard, jobId, now = null }: DropRequest & { jobId: string }) {
  await lockClaims(tx, shard);
  const dropped = await tx.rows<Dropped>({
    text: `select ${DROPPED}, w.url
      from events e
      join deliveries d on d.shard = $1 and d.event_id = e.id
      left join webhooks w on w.shard = $1 and w.id = d.webhook_id
      where e.shard = $1 and e.job_id = $2 and d.state = 'waiting' and ${IS_NOT_IN_FLIGHT}
      for update of d`,
    values: [shard, jobId],
  });
  await drop(tx, dropped, { shard, now });
}

/**
 * Drops due deliveries whose webhook is disabled or deleted: those emitted at the same moment, or left by a crash. Returns
 * how many.
 */
export async function dropUndeliverable(db: Database, { shard, now = null }: DropRequest): Promise<number> {
  return await db.transaction(async (tx) => {
    await lockClaims(tx, shard);
    const found = await tx.rows<{ id: string; eventId: string }>({
      name: 'find-undeliverable',
      text: `select d.id, d.event_id as "eventId"
        from deliveries d
        left join webhooks w on w.shard = $1 and w.id = d.webhook_id
        where d.shard = $1 and d.state = 'waiting' and d.next_at <= coalesce($2::timestamptz, clock_timestamp())
          and w.active is not true
          and d.id not in (
            select delivery_id
            from delivery_leases
            where shard = $1 and ends_at > coalesce($2::timestamptz, clock_timestamp())
          )
        order by d.next_at
        limit $3`,
      values: [shard, now, DROP_LIMIT],
    });
    if (found.length === 0) return 0;
    const ids = found.map(({ id }) => id);
    // Leases are locked before deliveries, as in finishAttempts. A result that was just recorded is kept.
    await tx.run({
      text: 'delete from delivery_leases where shard = $1 and delivery_id = any($2::text[])',
      values: [shard, ids],
    });
    const dropped = await tx.rows<Dropped>({
      text: `select ${DROPPED}, w.url
        from deliveries d
        left join webhooks w on w.shard = $1 and w.id = d.webhook_id
        where d.shard = $1 and d.event_id = any($3::text[]) and d.id = any($4::text[]) and d.state = 'waiting'
          and d.next_at <= coalesce($2::timestamptz, clock_timestamp())
        for update of d`,
      values: [shard, now, found.map(({ eventId }) => eventId), ids],
    });
    return await drop(tx, dropped, { shard, now });
  });
}

async function drop(tx: Sql, dropped: Dropped[], { shard, now = null }: DropRequest): Promise<number> {
  if (dropped.length === 0) return 0;
  const column = <Name extends keyof Dropped>(name: Name) => dropped.map((delivery) => delivery[name]);
  await tx.run({
    text: `update deliveries
      set state = 'dropped', next_at = null
      where shard = $1 and event_id = any($2::text[]) and id = any($3::text[]) and state = 'waiting'`,
    values: [shard, column('eventId'), column('id')],
  });
  await tx.run({
    text: `insert into attempts (shard, id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt,
        status, created_at, completed_at)
      select $1, d.attempt_id, d.account_id, d.webhook_id, d.event_id, d.event_type, d.id, d.url, d.attempt,
        'dropped', d.created_at, coalesce($2::timestamptz, clock_timestamp())
      from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::smallint[],
        $11::timestamptz[]) as d (id, attempt_id, account_id, webhook_id, event_id, event_type, url, attempt, created_at)`,
    values: [
      shard,
      now,
      column('id'),
      column('attemptId'),
      column('accountId'),
      column('webhookId'),
      column('eventId'),
      column('eventType'),
      dropped.map((delivery) => delivery.url ?? ''),
      column('attempt'),
      dropped.map((delivery) => new Date(timeOfId(delivery.attemptId))),
    ],
  });
  return dropped.length;
}
