import type { Sql } from '../db/sql.ts';
import { makeId } from '../runtime/clock.ts';

export type Resend = { lane: number; accountId: string; webhookId: string };

// Rows per statement: many events must not make one statement last.
const BATCH = 1_000;

/** Recoveries of one webhook come one after another: the second one sees what the first has sent again. */
export async function lockRecovery(tx: Sql, webhookId: string): Promise<void> {
  await tx.rows({ text: 'select pg_advisory_xact_lock(2, hashtext($1))', values: [webhookId] });
}

/**
 * Ids of events, oldest first, that the webhook subscribes to and has neither accepted nor under way: those it failed,
 * and those it was never told of because it was disabled or not there. At most 1,000; ask again from `afterId`.
 */
export async function findMissedEvents(
  tx: Sql,
  { lane, accountId, webhookId }: Resend,
  { since, until, afterId }: { since: Date; until: Date | null; afterId: string },
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>({
    text: `select e.id
      from events e
      join webhooks w on w.lane = $1 and w.id = $3 and e.type = any(w.events)
      where e.lane = $1 and e.account_id = $2 and e.id > $6
        -- A test is meant for one webhook at one time.
        and e.type <> 'webhook.test'
        and e.created_at >= $4 and ($5::timestamptz is null or e.created_at <= $5)
        and not exists (
          select from deliveries d
          where d.lane = $1 and d.event_id = e.id and d.webhook_id = $3
            and d.state in ('waiting', 'succeeded')
        )
      order by e.id
      limit $7`,
    values: [lane, accountId, webhookId, since, until, afterId, BATCH],
  });
  return rows.map((row) => row.id);
}

/** A fresh delivery of each event to the webhook, due at once, beginning with attempt 1. */
export async function insertResends(
  tx: Sql,
  { lane, accountId, webhookId }: Resend,
  eventIds: string[],
): Promise<void> {
  await tx.run({
    text: `insert into deliveries
        (lane, id, account_id, webhook_id, event_id, event_type, state, attempt_id, next_at, created_at)
      select $1, n.id, $2, $3, e.id, e.type, 'waiting', n.attempt_id, clock_timestamp(), clock_timestamp()
      from unnest($4::text[], $5::text[], $6::text[]) as n (event_id, id, attempt_id)
      join events e on e.lane = $1 and e.id = n.event_id
      -- Retention deletes no event that somebody is about to send again.
      for key share of e`,
    values: [lane, accountId, webhookId, eventIds, eventIds.map(() => makeId('dl')), eventIds.map(() => makeId('dlv'))],
  });
}

/** Whether the event is still there to be sent; if so, it stays until the transaction ends. */
export async function hasEvent(tx: Sql, { lane, eventId }: { lane: number; eventId: string }): Promise<boolean> {
  const text = 'select 1 from events where lane = $1 and id = $2 for key share';
  const rows = await tx.rows({ text, values: [lane, eventId] });
  return rows.length > 0;
}
