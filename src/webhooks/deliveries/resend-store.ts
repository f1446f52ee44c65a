import type { Sql } from '../../db/database.ts';
import { makeId } from '../../platform/clock.ts';
import { jobIdOfWebhook } from '../../rules/ids.ts';
import type { EmittedType } from '../events/event-types.ts';
import { MAY_RECEIVE } from '../events/may-receive.ts';
import { notifyDeliveriesDue } from '../events/store.ts';

export type Resend = { shard: number; accountId: string; webhookId: string };

/** What the newest entry of a missed event in the webhook's log may say; none: there is no entry. */
export const MISSED_STATUSES = ['failed', 'dropped', 'none'] as const;

/** Position of a search: after the event with this time and id. */
export type EventPlace = { at: string; id: string };

/** Which of the missed events are wanted. */
type Missed = {
  after: EventPlace;
  until: Date | null;
  /** Null: all types that the webhook subscribes to. */
  eventType: EmittedType | null;
  status: (typeof MISSED_STATUSES)[number] | null;
};

const OF_EVENT = { type: 'e.type', jobId: 'e.job_id', testedId: 'e.webhook_id' };

// Events per statement, to limit its duration.
const BATCH = 2_000;

/** Recoveries of one webhook run one after another: the second sees what the first has resent. */
export async function lockRecovery(tx: Sql, webhookId: string): Promise<void> {
  await tx.rows({ text: 'select pg_advisory_xact_lock(2, hashtext($1))', values: [webhookId] });
}

/**
 * Ids of missed events among the next 2,000 of the account, oldest first: events that the webhook subscribes to,
 * without a successful or waiting delivery. `next` is the position to continue from; null at the end.
 */
export async function findMissedEvents(
  tx: Sql,
  { shard, accountId, webhookId }: Resend,
  { after, until, eventType, status }: Missed,
): Promise<{ ids: string[]; next: EventPlace | null }> {
  const jobId = jobIdOfWebhook(webhookId);
  const rows = await tx.rows<EventPlace & { isMissed: boolean }>({
    text: `with batch as materialized (
        select e.id, e.type, e.job_id, e.webhook_id, e.created_at
        from events e
        where e.shard = $1 and e.account_id = $2
          and (e.created_at, e.id) > ($4::timestamptz, $5) and ($6::timestamptz is null or e.created_at <= $6)
          and ($10::text is null or e.job_id = $10)
        order by e.created_at, e.id
        limit $7
      )
      select e.id, e.created_at::text as at,
        -- A test is for one webhook only, and is not sent again.
        e.webhook_id is null and e.type = any(w.events) and ($8::text is null or e.type = $8)
          and ${MAY_RECEIVE('w.id', OF_EVENT)}
          and not exists (
            select from deliveries d
            where d.shard = $1 and d.event_id > '' and d.event_id = e.id and d.webhook_id = $3
          )
          and not exists (
            select from attempts a
            where a.shard = $1 and a.event_id = e.id and a.webhook_id = $3 and a.status = 'succeeded'
          )
          and ($9::text is null or $9 = coalesce((
            select a.status
            from attempts a
            where a.shard = $1 and a.event_id = e.id and a.webhook_id = $3
            order by a.id desc
            limit 1
          ), 'none')) as "isMissed"
      from batch e
      join webhooks w on w.shard = $1 and w.id = $3
      order by e.created_at, e.id`,
    values: [shard, accountId, webhookId, after.at, after.id, until, BATCH, eventType, status, jobId],
  });
  const last = rows.at(-1);
  return {
    ids: rows.flatMap(({ id, isMissed }) => (isMissed ? [id] : [])),
    next: last && rows.length === BATCH ? { at: last.at, id: last.id } : null,
  };
}

/**
 * Inserts a new delivery of each event to the webhook, due at once, with attempt 1 next, and notifies the deliverers.
 * Returns the number of deliveries: an event that is no longer kept gets none, nor one that the webhook may not get,
 * and a webhook that is not active none at all.
 */
export async function insertResends(
  sql: Sql,
  { shard, accountId, webhookId }: Resend,
  eventIds: string[],
): Promise<number> {
  if (eventIds.length === 0) return 0;
  const inserted = await sql.run({
    name: 'insert_resends',
    text: `insert into deliveries
        (shard, id, account_id, webhook_id, event_id, event_type, attempt_id, next_at, created_at)
      select $1, n.id, $2, $3, e.id, e.type, n.attempt_id, clock_timestamp(), clock_timestamp()
      from unnest($4::text[], $5::text[], $6::text[]) as n (event_id, id, attempt_id)
      join events e on e.shard = $1 and e.id = n.event_id
      where exists (
        select from webhooks w
        where w.shard = $1 and w.account_id = $2 and w.id = $3 and w.active and ${MAY_RECEIVE('w.id', OF_EVENT)}
      )
      -- Keeps retention from deleting the event meanwhile.
      for key share of e`,
    values: [
      shard,
      accountId,
      webhookId,
      eventIds,
      eventIds.map(() => makeId('dl')),
      eventIds.map(() => makeId('dlv')),
    ],
  });
  if (inserted > 0) notifyDeliveriesDue(sql, shard);
  return inserted;
}
