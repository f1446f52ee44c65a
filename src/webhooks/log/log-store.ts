import type { Sql } from '../../db/database.ts';
import { initialValues, selectColumns, type ValuesOf } from '../../db/statements/columns.ts';
import { IS_OF_ACCOUNT } from '../../db/statements/webhook-ids.ts';
import { newId, timeOfId } from '../../rules/ids.ts';
import type { FailureReason } from '../../rules/webhooks/delivery-outcome.ts';
import { INCLUDED_PARTS, type IncludedPart, includedBody } from '../../rules/webhooks/included-body.ts';
import { ATTEMPT_TABLE } from '../events/attempt-table.ts';
import { type LoggedAttempt, selectAttempt, selectPending } from '../events/log-store.ts';

/** One webhook's log; the caller has checked that the account owns the webhook. */
export type LogPlace = { shard: number; webhookId: string };

/**
 * The log of one webhook; with null of the account's webhooks, or of those of its jobs. The account's webhooks are few,
 * and are read one by one; its jobs may be many.
 */
export type LogScope = { shard: number; accountId: string; webhookId: string | null; ofJobs?: boolean };

export type LogFilter = {
  status: LoggedAttempt['status'] | null;
  eventType: string | null;
  eventId: string | null;
  /** Only failed attempts have one. */
  reason: FailureReason | null;
  /** 200, 300, 400 or 500: of the answer's status. */
  statusClass: number | null;
  attempt: number | null;
  /** Entries created after, or before, a time; both exclusive. */
  after: Date | null;
  before: Date | null;
  limit: number;
  /** Null for the first page. */
  beforeId: string | null;
};

/** An entry with all that was sent and answered. */
export type LoggedExchange = LoggedAttempt &
  ValuesOf<typeof ATTEMPT_TABLE.content> & {
    /** Null once the event is no longer kept. */
    requestBody: Buffer | null;
  };

/** The columns of `LoggedAttempt`: of attempts as a, left joined with their waiting deliveries as d. */
export const ATTEMPT_COLUMNS = `${selectAttempt('a')},
  case when d.attempt = a.attempt + 1 and a.status = 'failed' then d.next_at end as "nextAttemptAt"`;

/** SQL of the log's rows in a scope. @param select  makes the query for the rows of a place @param name  of the rows */
function rowsOf({ webhookId, ofJobs }: LogScope, select: (place: string) => string, name: 'a' | 'd'): string {
  if (webhookId === null && ofJobs) {
    return `(${select("account_id = $2 and webhook_id like 'whj\\_%' and $3::text is null")}
      ) ${name}
      left join webhooks w on w.shard = $1 and w.id = ${name}.webhook_id`;
  }
  return `webhooks w
      join lateral (${select(name === 'd' ? "webhook_id || '' = w.id" : 'webhook_id = w.id')}
      ) ${name} on w.shard = $1 and w.account_id = $2
        and ${webhookId === null ? `w.${IS_OF_ACCOUNT} and $3::text is null` : 'w.id = $3'}`;
}

const selectAttempts = (place: string): string => `
        select *
        from attempts
        where shard = $1 and ${place}
          and ($4::text is null or status = $4)
          and ($5::text is null or event_type = $5)
          and ($6::text is null or event_id = $6)
          and ($7::text is null or (status = 'failed' and error_reason = $7))
          and ($8::int is null or (response_status >= $8 and response_status < $8 + 100))
          and ($8 is null or $8 = 200 or status = 'failed')
          and ($9::int is null or attempt = $9)
          and ($10::timestamptz is null or created_at > $10)
          and ($11::timestamptz is null or created_at < $11)
          and ($12::text is null or id < $12)
        order by id desc
        limit $13`;

/**
 * Attempts made or dropped, newest first. Ids sort by the time of creation, so pages go by id. Filters that few
 * attempts pass name the condition of the index attempts_unusual.
 */
export async function listAttempts(sql: Sql, scope: LogScope, filter: LogFilter): Promise<LoggedAttempt[]> {
  return await sql.rows<LoggedAttempt>({
    text: `select ${ATTEMPT_COLUMNS}
      from ${rowsOf(scope, selectAttempts, 'a')}
      left join deliveries d on d.shard = $1 and d.event_id > '' and d.event_id = a.event_id and d.id = a.delivery_id
      order by a.id desc
      limit $13`,
    values: [
      ...[scope.shard, scope.accountId, scope.webhookId, filter.status, filter.eventType, filter.eventId],
      ...[filter.reason, filter.statusClass, filter.attempt, filter.after, filter.before, filter.beforeId],
      filter.limit,
    ],
  });
}

const selectDeliveries = (place: string): string => `
        select *
        from deliveries
        where shard = $1 and attempt_id > '' and ${place}
          and ($4::text is null or event_type = $4)
          and ($5::text is null or event_id = $5)
          and ($6::int is null or attempt = $6)
          and ($7::text is null or attempt_id >= $7)
          and ($8::text is null or attempt_id < $8)
          and ($9::text is null or attempt_id < $9)
        order by attempt_id desc
        limit $10`;

/** The attempts that wait or are under way, newest first. None of them has an answer or a reason. */
export async function listPending(sql: Sql, scope: LogScope, filter: LogFilter): Promise<LoggedAttempt[]> {
  const { status, reason, statusClass } = filter;
  if ((status ?? 'pending') !== 'pending' || reason !== null || statusClass !== null) return [];
  const rows = await sql.rows<LoggedAttempt>({
    text: `select ${PENDING_COLUMNS}
      from ${rowsOf(scope, selectDeliveries, 'd')}
      order by d.attempt_id desc
      limit $10`,
    values: [
      ...[scope.shard, scope.accountId, scope.webhookId, filter.eventType, filter.eventId, filter.attempt],
      // The time of a pending attempt is stored in its id only.
      ...[firstIdAfter(filter.after), firstIdFrom(filter.before), filter.beforeId, filter.limit],
    ],
  });
  return rows.map(withOwnTime);
}

const PENDING_COLUMNS = selectPending('d', 'w');

/** One entry with the request as sent and the answer; null when the webhook's log has none with this id. */
export async function findLogged(sql: Sql, place: LogPlace, id: string): Promise<LoggedExchange | null> {
  const find = async () => (await findRecorded(sql, place, id)) ?? (await findPending(sql, place, id));
  // An attempt that is recorded between the two is in neither.
  return (await find()) ?? (await findRecorded(sql, place, id));
}

async function findRecorded(sql: Sql, place: LogPlace, id: string): Promise<LoggedExchange | null> {
  const [found] = await sql.rows<LoggedExchange & { include: IncludedPart[] | null }>({
    text: `select ${ATTEMPT_COLUMNS}, ${selectColumns('a', ATTEMPT_TABLE.content)}, e.body as "requestBody",
        (select include from webhooks where shard = $1 and id = $2) as include
      from attempts a
      left join deliveries d on d.shard = $1 and d.event_id > '' and d.event_id = a.event_id and d.id = a.delivery_id
      left join events e on e.shard = $1 and e.id = a.event_id
      where a.shard = $1 and a.webhook_id = $2 and a.id = $3 and a.created_at = $4`,
    // The id holds the time of creation, and that time selects the partition.
    values: [place.shard, place.webhookId, id, new Date(timeOfId(id))],
  });
  if (!found) return null;
  const { include, ...entry } = found;
  return { ...entry, requestBody: entry.requestBody && includedBody(entry.requestBody, include ?? INCLUDED_PARTS) };
}

async function findPending(sql: Sql, place: LogPlace, id: string): Promise<LoggedExchange | null> {
  const pending = await sql.rows<LoggedAttempt>({
    text: `select ${PENDING_COLUMNS}
      from deliveries d
      join webhooks w on w.shard = $1 and w.id = d.webhook_id
      where d.shard = $1 and d.attempt_id > '' and d.webhook_id || '' = $2 and d.attempt_id = $3`,
    values: [place.shard, place.webhookId, id],
  });
  const nothing = { ...initialValues(ATTEMPT_TABLE.content), requestBody: null };
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
export function firstIdFrom(at: Date): string;
export function firstIdFrom(at: Date | null): string | null;
export function firstIdFrom(at: Date | null): string | null {
  return at && newId('dlv', Math.max(0, at.getTime()), new Uint8Array(10));
}

/** The events of entries of the log, pending ones included, by the entry's id. Unknown ids are left out. */
export async function findEventsOfEntries(
  sql: Sql,
  { shard, webhookId }: LogPlace,
  ids: string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const times = ids.map(timeOfId);
  const rows = await sql.rows<{ id: string; eventId: string }>({
    text: `select id, event_id as "eventId"
      from attempts
      -- The times select the partitions.
      where shard = $1 and webhook_id = $2 and id = any($3::text[]) and created_at between $4 and $5
      union all
      select attempt_id, event_id
      from deliveries
      where shard = $1 and attempt_id > '' and webhook_id || '' = $2 and attempt_id = any($3::text[])`,
    values: [shard, webhookId, ids, new Date(Math.min(...times)), new Date(Math.max(...times))],
  });
  return new Map(rows.map(({ id, eventId }) => [id, eventId]));
}
