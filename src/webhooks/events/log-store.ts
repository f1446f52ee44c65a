import type { Sql } from '../../db/database.ts';
import { timeOfId } from '../../rules/ids.ts';
import type { AccountRef } from '../../rules/shard.ts';
import type { FailureReason } from '../../rules/webhooks/delivery-outcome.ts';
import type { EmittedType } from './event-types.ts';

export type StoredEvent = { id: string; type: EmittedType; jobId: string | null; createdAt: Date };

/** One attempt to deliver an event: made, dropped, or still to come (`pending`). Durations in ms. */
export type LoggedAttempt = {
  id: string;
  webhookId: string;
  eventId: string;
  eventType: EmittedType;
  url: string | null;
  attempt: number;
  status: 'succeeded' | 'failed' | 'pending' | 'dropped';
  responseStatus: number | null;
  errorReason: FailureReason | null;
  errorMessage: string | null;
  durationMs: number | null;
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
  /** Where the request went; null when nothing was sent. */
  remoteAddress: string | null;
  createdAt: Date;
  completedAt: Date | null;
  nextAttemptAt: Date | null;
};

// Four attempts per webhook and round; redeliveries add rounds.
const MAX_ATTEMPTS_SHOWN = 500;

/** Newest first, without bodies. @param beforeId  null for the first page */
export async function listEvents(
  sql: Sql,
  { shard, accountId }: AccountRef,
  {
    type,
    jobId,
    limit,
    beforeId,
  }: { type: EmittedType | null; jobId: string | null; limit: number; beforeId: string | null },
): Promise<StoredEvent[]> {
  return await sql.rows<StoredEvent>({
    text: `
      select id, type, job_id as "jobId", created_at as "createdAt"
      from events
      where shard = $1 and account_id = $2
        and ($3::text is null or id < $3)
        and ($4::text is null or type = $4)
        and ($5::text is null or job_id = $5)
      order by id desc
      limit $6`,
    values: [shard, accountId, beforeId, type, jobId, limit],
  });
}

export async function findEvent(
  sql: Sql,
  { shard, accountId, id }: AccountRef & { id: string },
): Promise<(StoredEvent & { body: Buffer }) | null> {
  const rows = await sql.rows<StoredEvent & { body: Buffer }>({
    text: `
      select id, type, job_id as "jobId", created_at as "createdAt", body
      from events
      where shard = $1 and id = $2 and account_id = $3`,
    values: [shard, id, accountId],
  });
  return rows[0] ?? null;
}

/** Every attempt to deliver the event, those that wait included, newest first. */
export async function listAttemptsOf(sql: Sql, { shard, id }: { shard: number; id: string }): Promise<LoggedAttempt[]> {
  const rows = await sql.rows<LoggedAttempt>({
    text: `
      select attempts.id, attempts.webhook_id as "webhookId", attempts.event_id as "eventId",
        attempts.event_type as "eventType", attempts.url, attempts.attempt, attempts.status,
        attempts.response_status as "responseStatus", attempts.error_reason as "errorReason",
        attempts.error_message as "errorMessage", attempts.duration_ms as "durationMs", attempts.dns_ms as "dnsMs",
        attempts.connect_ms as "connectMs", attempts.tls_ms as "tlsMs", attempts.first_byte_ms as "firstByteMs",
        attempts.remote_address as "remoteAddress", attempts.created_at as "createdAt", attempts.completed_at as "completedAt",
        case
          when deliveries.attempt = attempts.attempt + 1 then deliveries.next_at
        end as "nextAttemptAt"
      from attempts
      left join deliveries on deliveries.shard = $1 and deliveries.event_id > '' and deliveries.event_id = $2 and deliveries.id = attempts.delivery_id
      where attempts.shard = $1 and attempts.event_id = $2
      union all
      select deliveries.attempt_id, deliveries.webhook_id, deliveries.event_id, deliveries.event_type, webhooks.url,
        deliveries.attempt, 'pending', null, null, null, null, null, null, null, null, null, deliveries.created_at, null,
        -- Once it is due, the attempt may be under way.
        case when deliveries.next_at > clock_timestamp() then deliveries.next_at end
      from deliveries
      left join webhooks on webhooks.shard = $1 and webhooks.id = deliveries.webhook_id
      where deliveries.shard = $1 and deliveries.event_id > '' and deliveries.event_id = $2
      order by 1 desc
      limit $3`,
    values: [shard, id, MAX_ATTEMPTS_SHOWN],
  });
  // A delivery row is as old as its first attempt; an entry is as old as its own id.
  return rows.map((row) => (row.status === 'pending' ? { ...row, createdAt: new Date(timeOfId(row.id)) } : row));
}
