import type { Sql } from '../../db/database.ts';
import { timeOfId } from '../../rules/ids.ts';

/** The result of one attempt, and what follows from it. */
export type FinishedAttempt = {
  deliveryId: string;
  /** The attempt is recorded only while the delivery is leased under this id. */
  attemptId: string;
  accountId: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  url: string;
  attempt: number;
  succeeded: boolean;
  /** Delay before the next attempt, from now; null when there is none. */
  retryAfterMs: number | null;
  /** The id of the next attempt; null when there is none. */
  nextAttemptId: string | null;
  responseStatus: number | null;
  errorReason: string | null;
  errorMessage: string | null;
  durationMs: number;
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
  remoteAddress: string | null;
  /** JSON text; null when nothing was sent. */
  requestHeaders: string | null;
  responseHeaders: string | null;
  responseBody: Buffer | null;
  completedAt: Date;
};

export type FinishBatch = {
  shard: number;
  /** In the order in which they ended: a success ends the failure streak before it. */
  attempts: FinishedAttempt[];
  disableFailures: number;
  disableMs: number;
  now?: Date | null;
};

/** How a batch changed the failure streak of a webhook with failures before or in the batch. */
export type StreakChange = {
  webhookId: string;
  failuresBefore: number;
  failuresAfter: number;
  /** This batch disabled the webhook. */
  disabled: boolean;
};

export type FinishResult = {
  /** Deliveries whose attempt was still leased, and is now recorded. */
  settledIds: string[];
  streaks: StreakChange[];
};

/**
 * Records attempts of one shard in one statement: the next states of their deliveries, the log entries and the failure
 * streaks of the webhooks, which may disable a webhook. Attempts whose lease has ended are ignored, so none counts twice.
 * When the webhook is disabled or deleted, a delivery with attempts left is dropped and logged as dropped.
 * The rule for disabling is in rules/webhooks/auto-disable.ts; a test compares this statement with it.
 */
export async function finishAttempts(sql: Sql, batch: FinishBatch): Promise<FinishResult> {
  const { shard, attempts, disableFailures, disableMs, now = null } = batch;
  const column = <Name extends keyof FinishedAttempt>(name: Name) => attempts.map((attempt) => attempt[name]);
  const rows = await sql.rows<{ settledIds: string[] | null; streaks: StreakChange[] | null }>({
    name: 'finish-attempts',
    text: FINISH,
    values: [
      shard,
      now,
      disableFailures,
      disableMs,
      plainArray(column('deliveryId')),
      plainArray(column('webhookId')),
      plainArray(column('eventId')),
      plainArray(column('attemptId')),
      column('url'),
      plainArray(column('attempt')),
      plainArray(column('succeeded')),
      plainArray(column('retryAfterMs')),
      plainArray(column('nextAttemptId')),
      plainArray(column('responseStatus')),
      plainArray(column('errorReason')),
      column('errorMessage'),
      plainArray(column('durationMs')),
      plainArray(column('dnsMs')),
      plainArray(column('connectMs')),
      plainArray(column('tlsMs')),
      plainArray(column('firstByteMs')),
      column('remoteAddress'),
      column('requestHeaders'),
      column('responseHeaders'),
      column('responseBody'),
      plainArray(attempts.map((attempt) => attempt.completedAt.getTime())),
      plainArray(attempts.map((attempt) => timeOfId(attempt.attemptId))),
      plainArray(attempts.map((attempt) => attempt.nextAttemptId && timeOfId(attempt.nextAttemptId))),
      [...new Set(attempts.map((attempt) => attempt.webhookId))],
      [...new Set(attempts.flatMap((attempt) => (attempt.succeeded ? [] : attempt.webhookId)))],
    ],
  });
  return { settledIds: rows[0]?.settledIds ?? [], streaks: rows[0]?.streaks ?? [] };
}

/**
 * PostgreSQL array literal of values that need no quotes: ids, reasons, numbers and booleans. The pg package checks every
 * character of every value instead, which took a tenth of the deliverer's time.
 */
function plainArray(values: (string | number | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

const FINISH = `
  with
  moment as materialized (
    select coalesce($2::timestamptz, clock_timestamp()) as now
  ),
  batch as materialized (
    select *
    from unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::smallint[], $11::boolean[], $12::float8[],
      $13::text[], $14::smallint[], $15::text[], $16::text[], $17::real[], $18::real[], $19::real[], $20::real[],
      $21::real[], $22::text[], $23::text[], $24::text[], $25::bytea[], $26::float8[], $27::float8[], $28::float8[])
    with ordinality as b (delivery_id, webhook_id, event_id, attempt_id, url, attempt, succeeded, retry_after_ms,
      next_attempt_id, response_status, error_reason, error_message, duration_ms, dns_ms, connect_ms, tls_ms,
      first_byte_ms, remote_address, request_headers, response_headers, response_body, completed_at_ms,
      created_at_ms, next_created_at_ms, position)
  ),
  -- Webhooks are locked before deliveries and in order of id, as in every transaction that changes both. A success changes
  -- the webhook only when it ends a streak or is the first: otherwise the row is not locked.
  touched as materialized (
    select w.id, w.active, w.consecutive_failures, w.failing_since
    from webhooks w
    where w.shard = $1
      and (
        w.id = any($30::text[])
        or ((w.consecutive_failures > 0 or not w.has_succeeded) and w.id = any($29::text[]))
      )
    order by w.id
    for update
  ),
  -- Ends the leases that are still held under these attempt ids; other attempts are not recorded.
  owned as materialized (
    delete from delivery_leases l
    using batch b
    where (select count(*) from touched) >= 0
      and l.shard = $1 and l.webhook_id = b.webhook_id and l.delivery_id = b.delivery_id and l.attempt_id = b.attempt_id
    returning b.*
  ),
  counted as (
    select o.webhook_id, bool_or(o.succeeded) as has_success,
      count(*) filter (where not o.succeeded and o.position > s.last_success) as failures
    from owned o
    join (
      select webhook_id, coalesce(max(position) filter (where succeeded), 0) as last_success
      from owned
      group by webhook_id
    ) s on s.webhook_id = o.webhook_id
    group by o.webhook_id
  ),
  streaks as materialized (
    select t.id, t.active, c.has_success, t.consecutive_failures as failures_before,
      case when c.has_success then 0 else t.consecutive_failures end + c.failures as failures,
      case
        when c.has_success and c.failures = 0 then null
        when c.has_success then (select now from moment)
        else coalesce(t.failing_since, (select now from moment))
      end as failing_since
    from touched t
    join counted c on c.webhook_id = t.id
  ),
  evaluated as materialized (
    select s.*,
      s.active and s.failures >= $3
        and (select now from moment) - s.failing_since >= $4 * interval '1 millisecond' as disables
    from streaks s
  ),
  changed_webhooks as (
    update webhooks w
    set consecutive_failures = e.failures,
      failing_since = e.failing_since,
      has_succeeded = w.has_succeeded or e.has_success,
      active = case when e.disables then false else w.active end,
      disabled_reason = case when e.disables then 'consecutive_failures' else w.disabled_reason end,
      disabled_at = case when e.disables then (select now from moment) else w.disabled_at end,
      updated_at = case when e.disables then (select now from moment) else w.updated_at end
    from evaluated e
    where w.shard = $1 and w.id = e.id
  ),
  settled as materialized (
    select o.*,
      case
        when o.succeeded then 'succeeded'
        when o.retry_after_ms is null then 'exhausted'
        when t.active and not coalesce(e.disables, false) then 'waiting'
        else 'dropped'
      end as next_state
    from owned o
    left join touched t on t.id = o.webhook_id
    left join evaluated e on e.id = o.webhook_id
  ),
  changed_deliveries as (
    update deliveries d
    set state = s.next_state,
      attempt = case when s.next_state in ('waiting', 'dropped') then d.attempt + 1 else d.attempt end,
      attempt_id = case when s.next_state in ('waiting', 'dropped') then s.next_attempt_id else s.attempt_id end,
      next_at = case
        when s.next_state = 'waiting' then (select now from moment) + s.retry_after_ms * interval '1 millisecond'
      end
    from settled s
    -- An expression of the state, so that only the primary key can be used.
    where d.shard = $1 and d.event_id = s.event_id and d.id = s.delivery_id and (d.state || '') = 'waiting'
    returning s.*, d.account_id, d.event_type
  ),
  logged as (
    insert into attempts (shard, id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt, status,
      response_status, error_reason, error_message, duration_ms, dns_ms, connect_ms, tls_ms, first_byte_ms,
      remote_address, request_headers, response_headers, response_body, created_at, completed_at)
    select $1, attempt_id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt,
      case when succeeded then 'succeeded' else 'failed' end,
      response_status, error_reason, error_message, duration_ms, dns_ms, connect_ms, tls_ms, first_byte_ms,
      remote_address, request_headers, response_headers, response_body, to_timestamp(created_at_ms / 1000),
      to_timestamp(completed_at_ms / 1000)
    from changed_deliveries
    union all
    select $1, next_attempt_id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt + 1, 'dropped',
      null, null, null, null, null, null, null, null, null, null, null, null, to_timestamp(next_created_at_ms / 1000),
      (select now from moment)
    from changed_deliveries
    where next_state = 'dropped'
  )
  select
    (select array_agg(delivery_id) from changed_deliveries) as "settledIds",
    (
      select json_agg(json_build_object('webhookId', id, 'failuresBefore', failures_before,
        'failuresAfter', failures, 'disabled', disables))
      from evaluated
      where failures_before > 0 or failures > 0
    ) as streaks`;
