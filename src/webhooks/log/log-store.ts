import type { Sql } from '../../db/database.ts';
import { newId, timeOfId } from '../../rules/ids.ts';
import type { LoggedAttempt } from '../events/log-store.ts';

/** A webhook's log; the caller has checked that the account owns the webhook. */
type LogPlace = { shard: number; webhookId: string };

export type LogFilter = {
  status: LoggedAttempt['status'] | null;
  eventType: string | null;
  eventId: string | null;
  /** Entries created after, or before, a time; both exclusive. */
  after: Date | null;
  before: Date | null;
  limit: number;
  /** Null for the first page. */
  beforeId: string | null;
};

/** An entry with all that was sent and answered. */
export type LoggedExchange = LoggedAttempt & {
  /** Where the request went; null when nothing was sent. */
  remoteAddress: string | null;
  /** JSON text; null when nothing was sent. */
  requestHeaders: string | null;
  /** Null once the event is no longer kept. */
  requestBody: Buffer | null;
  responseHeaders: string | null;
  responseBody: Buffer | null;
};

const ATTEMPT_COLUMNS = `a.id, a.webhook_id as "webhookId", a.event_id as "eventId", a.event_type as "eventType", a.url,
  a.attempt, a.status, a.response_status as "responseStatus", a.error_reason as "errorReason",
  a.error_message as "errorMessage", a.duration_ms as "durationMs", a.dns_ms as "dnsMs", a.connect_ms as "connectMs",
  a.tls_ms as "tlsMs", a.first_byte_ms as "firstByteMs", a.created_at as "createdAt", a.completed_at as "completedAt",
  case
    when d.attempt = a.attempt + 1 and a.status = 'failed' then d.next_at
  end as "nextAttemptAt"`;

/** Attempts made or dropped, newest first. Ids sort by the time of creation, so pages go by id. */
export async function listAttempts(sql: Sql, place: LogPlace, filter: LogFilter): Promise<LoggedAttempt[]> {
  return await sql.rows<LoggedAttempt>({
    text: `select ${ATTEMPT_COLUMNS}
      from attempts a
      left join deliveries d on d.shard = $1 and d.event_id = a.event_id and d.id = a.delivery_id
      where a.shard = $1 and a.webhook_id = $2
        and ($3::text is null or a.status = $3)
        and ($4::text is null or a.event_type = $4)
        and ($5::text is null or a.event_id = $5)
        and ($6::timestamptz is null or a.created_at > $6)
        and ($7::timestamptz is null or a.created_at < $7)
        and ($8::text is null or a.id < $8)
      order by a.id desc
      limit $9`,
    values: filterValues(place, filter),
  });
}

/** The attempts that wait or are under way, newest first. */
export async function listPending(sql: Sql, place: LogPlace, filter: LogFilter): Promise<LoggedAttempt[]> {
  const rows = await sql.rows<LoggedAttempt>({
    text: `${PENDING}
        and ($3::text is null or $3 = 'pending')
        and ($4::text is null or d.event_type = $4)
        and ($5::text is null or d.event_id = $5)
        and ($6::text is null or d.attempt_id >= $6)
        and ($7::text is null or d.attempt_id < $7)
        and ($8::text is null or d.attempt_id < $8)
      order by d.attempt_id desc
      limit $9`,
    // The time of a pending attempt is stored in its id only.
    values: filterValues(place, filter).with(5, firstIdAfter(filter.after)).with(6, firstIdFrom(filter.before)),
  });
  return rows.map(withOwnTime);
}

const PENDING = `select d.attempt_id as id, d.webhook_id as "webhookId", d.event_id as "eventId",
    d.event_type as "eventType", w.url, d.attempt, 'pending' as status, null as "responseStatus",
    null as "errorReason", null as "errorMessage", null as "durationMs", null as "dnsMs", null as "connectMs",
    null as "tlsMs", null as "firstByteMs", d.created_at as "createdAt", null as "completedAt",
    -- Once it is due, the attempt may be under way.
    case when d.next_at > clock_timestamp() then d.next_at end as "nextAttemptAt"
  from deliveries d
  join webhooks w on w.shard = $1 and w.id = d.webhook_id
  where d.shard = $1 and d.attempt > 0 and d.webhook_id || '' = $2`;

/** One entry with the request as sent and the answer; null when the webhook's log has none with this id. */
export async function findLogged(sql: Sql, place: LogPlace, id: string): Promise<LoggedExchange | null> {
  const attempts = await sql.rows<LoggedExchange>({
    text: `select ${ATTEMPT_COLUMNS}, a.remote_address as "remoteAddress", a.request_headers as "requestHeaders", a.response_headers as "responseHeaders",
        a.response_body as "responseBody", e.body as "requestBody"
      from attempts a
      left join deliveries d on d.shard = $1 and d.event_id = a.event_id and d.id = a.delivery_id
      left join events e on e.shard = $1 and e.id = a.event_id
      where a.shard = $1 and a.webhook_id = $2 and a.id = $3 and a.created_at = $4`,
    // The id holds the time of creation, and that time selects the partition.
    values: [place.shard, place.webhookId, id, new Date(timeOfId(id))],
  });
  if (attempts[0]) return attempts[0];
  const pending = await sql.rows<LoggedAttempt>({
    text: `${PENDING} and d.attempt_id = $3`,
    values: [place.shard, place.webhookId, id],
  });
  const nothing = {
    remoteAddress: null,
    requestHeaders: null,
    requestBody: null,
    responseHeaders: null,
    responseBody: null,
  };
  return pending[0] ? { ...withOwnTime(pending[0]), ...nothing } : null;
}

/** A delivery row is as old as its first attempt; the entry is as old as its own id. */
function withOwnTime(entry: LoggedAttempt): LoggedAttempt {
  return { ...entry, createdAt: new Date(timeOfId(entry.id)) };
}

function firstIdAfter(at: Date | null): string | null {
  return at && firstIdFrom(new Date(at.getTime() + 1));
}

/** The smallest id that an attempt of that millisecond can have. */
function firstIdFrom(at: Date | null): string | null {
  return at && newId('dlv', Math.max(0, at.getTime()), new Uint8Array(10));
}

function filterValues({ shard, webhookId }: LogPlace, filter: LogFilter): unknown[] {
  const { status, eventType, eventId, after, before, beforeId, limit } = filter;
  return [shard, webhookId, status, eventType, eventId, after, before, beforeId, limit];
}
