import type { Sql } from '../../db/database.ts';
import { plainArray } from '../../db/statements/plain-array.ts';
import type { Entry } from '../scheduler/webhook-queue.ts';
import type { WebhookSettings } from '../scheduler/webhook-settings.ts';

/** A delivery that waits, as read. */
export type WaitingDelivery = Entry & {
  accountId: string;
  eventType: string;
  /** The job that the event is about, and the trace of the request that made it; null: none. */
  jobId: string | null;
  traceparent: string | null;
  /** Time of the database when the row was read. */
  readAtMs: number;
  /** Null when it is large: `readBodies` reads it when it is sent. */
  body: Buffer | null;
  /** Its size, also when it is not read; 0 for an event that is not there. */
  bodyBytes: number;
};

export type ReadDeliveries = {
  deliveries: WaitingDelivery[];
  /** The webhooks of these deliveries, unless they were not asked for; a deleted one is inactive. */
  webhooks: WebhookSettings[];
  /** The database's time when they were read; null without deliveries. */
  nowMs: number | null;
};

const SETTINGS = `w.url, w.secret, w.previous_secret as "previousSecret", w.previous_secret_ends_at as "previousSecretEndsAt",
  w.consecutive_failures = 0 and w.has_succeeded as "isHealthy", w.max_per_second as "maxPerSecond", w.headers, w.include,
  case when not w.active then 'inactive' when a.suspended_at is not null then 'suspended' else 'active' end as state`;
const ACCOUNT = 'left join accounts a on a.shard = w.shard and a.id = w.account_id';

// extract() computes in numeric, which costs a microsecond.
const MS = (time: string) => `date_part('epoch', ${time}) * 1000`;

// Up to 20,000 of them are in memory.
export const MAX_WAITING_BODY_BYTES = 8 * 1024;

// Text takes half of the bytes that hexadecimal digits take, and the database converts to UTF-8, which it is.
const DELIVERY = `d.shard, d.webhook_id as "webhookId", d.id, d.account_id as "accountId", d.event_id as "eventId", d.event_type as "eventType", d.attempt,
  d.attempt_id as "attemptId", ${MS('d.next_at')} as "nextAtMs", (select ${MS('clock_timestamp()')}) as "readAtMs",
  e.job_id as "jobId", e.traceparent, coalesce(octet_length(e.body), 0) as "bodyBytes",
  case when octet_length(e.body) <= ${MAX_WAITING_BODY_BYTES} then convert_from(e.body, 'UTF8') end as body`;
const EVENT = 'left join events e on e.shard = d.shard and e.id = d.event_id';

/** A delivery, and its webhook's settings if they were read. */
type Row = Omit<WaitingDelivery, 'body'> & { body: string | null } & (
    | Omit<WebhookSettings, 'id' | 'shard'>
    | { url: null }
  );

/**
 * At most `limit` deliveries of the shards, in no order, that are due in a span of time. Ends included.
 * @param span.without  ids of webhooks whose deliveries are left out
 * @param span.known  ids of deliveries that are left out
 */
export async function readDue(
  sql: Sql,
  span: { shards: number[]; fromMs: number; untilMs: number; without: string[]; known: string[]; limit: number },
): Promise<ReadDeliveries> {
  const { shards, fromMs, untilMs, without, known, limit } = span;
  const rows = await sql.rows<Row>({
    name: 'read-due-deliveries',
    text: `select ${DELIVERY}, ${SETTINGS}
      from deliveries d
      left join webhooks w on w.shard = d.shard and w.id = d.webhook_id
      ${ACCOUNT}
      ${EVENT}
      where d.shard = any($1::smallint[]) and d.attempt > 0
        and d.next_at >= to_timestamp($2::float8 / 1000) and d.next_at <= to_timestamp($3::float8 / 1000)
        and (d.webhook_id in (select unnest($4::text[]))) is not true
        and (d.id in (select unnest($6::text[]))) is not true
      limit $5`,
    values: [shards, fromMs, untilMs, plainArray(without), limit, plainArray(known)],
  });
  const webhooks = new Map<string, WebhookSettings>();
  for (const row of rows) if (!webhooks.has(row.webhookId)) webhooks.set(row.webhookId, settingsOf(row));
  return { deliveries: rows.map(deliveryOf), webhooks: [...webhooks.values()], nowMs: nowOf(rows) };
}

/**
 * The deliveries of one webhook that are due in a span of time, the longest due first. Ends included.
 * @param span.known  ids of deliveries that are left out
 * @param span.withSettings  whether to read the webhook too
 */
export async function readDueOfWebhook(
  sql: Sql,
  span: {
    shard: number;
    webhookId: string;
    fromMs: number;
    untilMs: number;
    limit: number;
    known: string[];
    withSettings: boolean;
  },
): Promise<ReadDeliveries> {
  const { shard, webhookId, fromMs, untilMs, limit, known, withSettings } = span;
  const rows = await sql.rows<Row>({
    name: withSettings ? 'read-due-deliveries-of-webhook-with-settings' : 'read-due-deliveries-of-webhook',
    text: withSettings ? READ_OF_WEBHOOK_WITH_SETTINGS : READ_OF_WEBHOOK,
    values: [shard, webhookId, fromMs, untilMs, limit, plainArray(known)],
  });
  const webhooks = withSettings && rows[0] ? [settingsOf(rows[0])] : [];
  return { deliveries: rows.map(deliveryOf), webhooks, nowMs: nowOf(rows) };
}

const readOfWebhook = (columns: string, settings: string) => `
  -- First the deliveries: a plan that sorts would read the bodies of all that wait.
  with due as materialized (
    select *
    from deliveries
    where shard = $1 and webhook_id > ''
      and (webhook_id, next_at) >= ($2, to_timestamp($3::float8 / 1000))
      and (webhook_id, next_at) <= ($2, to_timestamp($4::float8 / 1000))
      and (id in (select unnest($6::text[]))) is not true
    order by webhook_id, next_at
    limit $5
  )
  select ${columns}
  from due d
  ${settings}
  ${EVENT}
  order by d.next_at`;
const READ_OF_WEBHOOK = readOfWebhook(DELIVERY, '');
const READ_OF_WEBHOOK_WITH_SETTINGS = readOfWebhook(
  `${DELIVERY}, ${SETTINGS}`,
  `left join webhooks w on w.shard = $1 and w.id = $2
  ${ACCOUNT}`,
);

/** Without the settings, which the row repeats. */
function deliveryOf(row: Row): WaitingDelivery {
  const { shard, webhookId, id, accountId, eventId, eventType, attempt, attemptId, nextAtMs, readAtMs, bodyBytes } =
    row;
  const { jobId, traceparent } = row;
  const body = row.body === null ? null : Buffer.from(row.body);
  return {
    shard,
    id,
    accountId,
    webhookId,
    eventId,
    eventType,
    jobId,
    traceparent,
    attempt,
    attemptId,
    nextAtMs,
    readAtMs,
    body,
    bodyBytes,
  };
}

function nowOf(rows: Row[]): number | null {
  return rows[0]?.readAtMs ?? null;
}

function settingsOf(row: Row): WebhookSettings {
  const { webhookId: id, shard } = row;
  if (row.url === null) return deletedWebhook({ id, shard });
  const { state, isHealthy, maxPerSecond, url, secret, previousSecret, previousSecretEndsAt } = row;
  const { headers, include } = row;
  const secrets = { secret, previousSecret, previousSecretEndsAt };
  return { id, shard, state, isHealthy, maxPerSecond, url, ...secrets, headers, include };
}

/** Settings of a webhook that is no longer there. */
export function deletedWebhook({ id, shard }: { id: string; shard: number }): WebhookSettings {
  return {
    id,
    shard,
    state: 'inactive',
    isHealthy: false,
    maxPerSecond: null,
    url: '',
    secret: Buffer.alloc(0),
    previousSecret: null,
    previousSecretEndsAt: null,
    headers: null,
    include: [],
  };
}

/** A webhook, and of its waiting deliveries the one that is due first. */
export type FirstDue = { webhookId: string; id: string; eventId: string; nextAtMs: number };

/**
 * The webhooks of a shard with a delivery that is due by a time. One index probe for each webhook, however many wait.
 */
export async function findWebhooksDue(
  sql: Sql,
  { shard, untilMs }: { shard: number; untilMs: number },
): Promise<FirstDue[]> {
  return await sql.rows<FirstDue>({
    name: 'find-webhooks-due',
    text: `with recursive firsts (webhook_id, id, event_id, next_at) as (
        (
          select webhook_id, id, event_id, next_at
          from deliveries
          where shard = $1 and webhook_id > ''
          order by webhook_id, next_at
          limit 1
        )
        union all
        select n.webhook_id, n.id, n.event_id, n.next_at
        from firsts f
        cross join lateral (
          select d.webhook_id, d.id, d.event_id, d.next_at
          from deliveries d
          where d.shard = $1 and d.webhook_id > '' and (d.webhook_id, d.next_at) > (f.webhook_id, timestamptz 'infinity')
          order by d.webhook_id, d.next_at
          limit 1
        ) n
      )
      select webhook_id as "webhookId", id, event_id as "eventId", ${MS('next_at')} as "nextAtMs"
      from firsts
      where next_at <= to_timestamp($2::float8 / 1000)`,
    values: [shard, untilMs],
  });
}

/**
 * The bodies of deliveries that still wait under these attempt ids, by delivery id. A body is read once for all
 * deliveries of its event.
 */
export async function readBodies(
  sql: Sql,
  deliveries: Pick<WaitingDelivery, 'shard' | 'eventId' | 'attemptId'>[],
): Promise<Map<string, Buffer>> {
  const rows = await sql.rows<{ ids: string[]; body: string }>({
    name: 'read-delivery-bodies',
    text: `
      with waiting as materialized (
        select shard, event_id, array_agg(id) as ids
        from deliveries
        where shard = any($1::smallint[]) and event_id > '' and event_id = any($2::text[]) and attempt_id = any($3::text[])
        group by shard, event_id
      )
      select waiting.ids, convert_from(e.body, 'UTF8') as body
      from waiting
      join events e on e.shard = waiting.shard and e.id = waiting.event_id`,
    values: [
      [...new Set(deliveries.map(({ shard }) => shard))],
      [...new Set(deliveries.map(({ eventId }) => eventId))],
      deliveries.map(({ attemptId }) => attemptId),
    ],
  });
  return new Map(
    rows.flatMap(({ ids, body }) => {
      const bytes = Buffer.from(body);
      return ids.map((id) => [id, bytes] as const);
    }),
  );
}

/** Webhooks of one shard; those that were deleted are left out. */
export async function readWebhooks(sql: Sql, shard: number, ids: string[]): Promise<WebhookSettings[]> {
  return await sql.rows<WebhookSettings>({
    name: 'read-webhook-settings',
    text: `select w.id, w.shard, ${SETTINGS}
      from webhooks w
      ${ACCOUNT}
      where w.shard = $1 and w.id = any($2::text[])`,
    values: [shard, ids],
  });
}

/** Makes a delivery due later, with the same attempt: it could not be sent. */
export async function postponeDelivery(
  sql: Sql,
  { shard, id, eventId, attemptId }: Pick<WaitingDelivery, 'shard' | 'id' | 'eventId' | 'attemptId'>,
  delayMs: number,
): Promise<void> {
  await sql.run({
    name: 'postpone-delivery',
    text: `with clock as (
        select clock_timestamp() as moment
      )
      update deliveries
      set next_at = (select moment from clock) + $5 * interval '1 millisecond'
      where shard = $1 and event_id > '' and event_id = $2 and id = $3 and attempt_id = $4`,
    values: [shard, eventId, id, attemptId, delayMs],
  });
}
