import type { Sql } from '../../db/database.ts';
import { joinedTexts, textsOf } from '../../db/statements/joined-texts.ts';
import { plainArray } from '../../db/statements/plain-array.ts';
import { timeOfId } from '../../rules/ids.ts';

/** The result of one attempt, and what follows from it. */
export type FinishedAttempt = {
  shard: number;
  /** The attempt is recorded only while its shard has this epoch: since it started, one deliverer has owned the shard. */
  epoch: number;
  deliveryId: string;
  /** The attempt is recorded only while the delivery waits under this id. */
  attemptId: string;
  webhookId: string;
  eventId: string;
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
  accountId: string;
  eventType: string;
};

/**
 * Records successes of any shards in one statement: deletes their deliveries and inserts their log entries. Returns the
 * ids of the deliveries. Left out are attempts that are no longer to be recorded, and those of webhooks with failures
 * before or without a success: `finishAttempts` records these.
 */
export async function finishSuccesses(sql: Sql, attempts: FinishedAttempt[]): Promise<string[]> {
  const shards = attempts.map(({ shard }) => shard);
  const rows = await sql.rows<{ deliveryId: string }>({
    name: 'finish-successes',
    text: FINISH_SUCCESSES,
    values: [
      ...columnsOf(attempts),
      plainArray(shards),
      plainArray([...new Set(shards)]),
      plainArray(attempts.map(({ epoch }) => epoch)),
      plainArray([...new Set(attempts.map(({ webhookId }) => webhookId))]),
    ],
  });
  return rows.map(({ deliveryId }) => deliveryId);
}

type FinishBatch = {
  /** In the order in which they ended: a success ends the failure streak before it. */
  attempts: FinishedAttempt[];
  disableFailures: number;
  disableMs: number;
  now?: Date | null;
  /** All are of one shard, as they must be on Citus. */
  areOfOneShard?: boolean;
};

/** The failure streak of a webhook before and after a batch. */
export type StreakChange = {
  webhookId: string;
  failuresBefore: number;
  failuresAfter: number;
  /** This batch disabled the webhook. */
  disabled: boolean;
};

export type FinishResult = {
  /** Deliveries whose attempt is now recorded, and when the next one is due, in ms since the epoch; null without one. */
  settled: { id: string; nextAtMs: number | null }[];
  /** Of webhooks with failures, or without a success, before or in the batch. */
  streaks: StreakChange[];
};

/**
 * Records attempts in one statement: the next states of their deliveries, the log entries and the failure streaks of the
 * webhooks, which may disable a webhook. Attempts of a shard that was lost are ignored, and those recorded before, so none
 * counts twice. When the webhook is disabled or deleted, a delivery with attempts left is dropped and logged as dropped.
 * The rule for disabling is in rules/webhooks/auto-disable.ts; a test compares this statement with it.
 */
export async function finishAttempts(sql: Sql, batch: FinishBatch): Promise<FinishResult> {
  const { attempts, disableFailures, disableMs, now = null, areOfOneShard = false } = batch;
  const shards = attempts.map(({ shard }) => shard);
  const rows = await sql.rows<{ settled: FinishResult['settled'] | null; streaks: StreakChange[] | null }>({
    name: areOfOneShard ? 'finish-attempts-of-shard' : 'finish-attempts',
    text: areOfOneShard ? FINISH_ATTEMPTS_OF_SHARD : FINISH_ATTEMPTS,
    values: [
      ...columnsOf(attempts),
      plainArray(shards),
      areOfOneShard ? shards[0] : plainArray([...new Set(shards)]),
      plainArray(attempts.map(({ epoch }) => epoch)),
      now,
      disableFailures,
      disableMs,
      plainArray(attempts.map(({ succeeded }) => succeeded)),
      plainArray(attempts.map(({ retryAfterMs }) => retryAfterMs)),
      plainArray(attempts.map(({ nextAttemptId }) => nextAttemptId)),
      plainArray(attempts.map(({ nextAttemptId }) => nextAttemptId && timeOfId(nextAttemptId))),
      plainArray(attempts.map(({ errorReason }) => errorReason)),
      attempts.map(({ errorMessage }) => errorMessage),
      plainArray([...new Set(attempts.map(({ webhookId }) => webhookId))]),
      plainArray([...new Set(attempts.flatMap(({ succeeded, webhookId }) => (succeeded ? [] : webhookId)))]),
    ],
  });
  return { settled: rows[0]?.settled ?? [], streaks: rows[0]?.streaks ?? [] };
}

/** The values of COLUMNS. */
function columnsOf(attempts: FinishedAttempt[]): unknown[] {
  const column = <Name extends keyof FinishedAttempt>(name: Name) => attempts.map((attempt) => attempt[name]);
  return [
    plainArray(column('deliveryId')),
    plainArray(column('webhookId')),
    plainArray(column('eventId')),
    plainArray(column('attemptId')),
    joinedTexts(column('url')),
    plainArray(column('attempt')),
    plainArray(column('responseStatus')),
    plainArray(column('durationMs')),
    plainArray(column('dnsMs')),
    plainArray(column('connectMs')),
    plainArray(column('tlsMs')),
    plainArray(column('firstByteMs')),
    joinedTexts(column('remoteAddress')),
    joinedTexts(column('requestHeaders')),
    joinedTexts(column('responseHeaders')),
    column('responseBody'),
    plainArray(attempts.map((attempt) => attempt.completedAt.getTime())),
    plainArray(attempts.map((attempt) => timeOfId(attempt.attemptId))),
    plainArray(column('accountId')),
    plainArray(column('eventType')),
  ];
}

const COLUMNS = `$1::text[], $2::text[], $3::text[], $4::text[], ${textsOf('$5')}, $6::smallint[], $7::smallint[], $8::real[],
  $9::real[], $10::real[], $11::real[], $12::real[], ${textsOf('$13')}, ${textsOf('$14')}, ${textsOf('$15')},
  $16::bytea[], $17::float8[], $18::float8[], $19::text[], $20::text[]`;
const COLUMN_NAMES = `delivery_id, webhook_id, event_id, attempt_id, url, attempt, response_status, duration_ms, dns_ms,
  connect_ms, tls_ms, first_byte_ms, remote_address, request_headers, response_headers, response_body, completed_at_ms,
  created_at_ms, account_id, event_type`;

const INSERT_ATTEMPTS = `insert into attempts (shard, id, account_id, webhook_id, event_id, event_type, delivery_id, url,
  attempt, status, response_status, error_reason, error_message, duration_ms, dns_ms, connect_ms, tls_ms, first_byte_ms,
  remote_address, request_headers, response_headers, response_body, created_at, completed_at)`;

// Both statements find deliveries by arrays of their events and attempts, never by a join: a plan that was made while the
// table was nearly empty would read the whole shard first, for each attempt. A list before `is true` is hashed, whatever the
// plan; Citus refuses one in coalesce().

// Whoever takes one of the shards waits for the statement, or makes it ignore the shard.
const fence = (isInShards: string) => `
  fence as materialized (
    select shard, epoch
    from delivery_shards
    where shard ${isInShards}
    order by shard
    for share
  )`;
const IS_OWNED = '(b.shard::bigint << 48) + b.epoch = any(array(select (shard::bigint << 48) + epoch from fence))';

const FINISH_SUCCESSES = `
  with ${fence('= any($22::smallint[])')},
  plain as materialized (
    select id
    from webhooks
    where shard = any($22::smallint[]) and id = any($24::text[]) and consecutive_failures = 0 and has_succeeded
  ),
  owned as materialized (
    select attempt_id
    from unnest($4::text[], $2::text[], $21::smallint[], $23::bigint[]) as b (attempt_id, webhook_id, shard, epoch)
    where ${IS_OWNED}
      and (b.webhook_id in (select id from plain)) is true
  ),
  ended as (
    delete from deliveries
    where shard = any($22::smallint[]) and event_id > '' and event_id = any($3::text[])
      and (attempt_id in (select attempt_id from owned)) is true
    returning attempt_id
  )
  ${INSERT_ATTEMPTS}
  select shard, attempt_id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt, 'succeeded',
    response_status, null, null, duration_ms, dns_ms, connect_ms, tls_ms, first_byte_ms, remote_address,
    request_headers, response_headers, response_body, to_timestamp(created_at_ms / 1000),
    to_timestamp(completed_at_ms / 1000)
  from unnest(${COLUMNS}, $21::smallint[]) as b (${COLUMN_NAMES}, shard)
  where (attempt_id in (select attempt_id from ended)) is true
  returning delivery_id as "deliveryId"`;

// Citus locks rows only where one shard is named as such.
const FINISH_ATTEMPTS_OF_SHARD = `
  with ${fence('= $22::smallint')},
  moment as materialized (
    select coalesce($24::timestamptz, clock_timestamp()) as now
  ),
  fenced as materialized (
    select attempt_id, webhook_id
    from unnest($4::text[], $2::text[], $21::smallint[], $23::bigint[]) as b (attempt_id, webhook_id, shard, epoch)
    where ${IS_OWNED}
  ),
  -- Webhooks are locked before deliveries and in order of id, as in every transaction that changes both. A success changes
  -- the webhook only when it ends a streak or is the first: otherwise the row is not locked.
  touched as materialized (
    select w.shard, w.id, w.active, w.consecutive_failures, w.failing_since
    from webhooks w
    where w.shard = $22::smallint and w.id = any($33::text[]) and w.id = any(array(select webhook_id from fenced))
      and (w.id = any($34::text[]) or w.consecutive_failures > 0 or not w.has_succeeded)
    order by w.id
    for update
  ),
  -- The deliveries that still wait under these attempt ids; other attempts are not recorded. Locked: while the statement
  -- waited for a webhook, its deliveries may have been dropped, and must not count.
  waiting as materialized (
    select attempt_id
    from deliveries
    where shard = $22::smallint and event_id > '' and event_id = any($3::text[])
      and attempt_id = any(array(select attempt_id from fenced)) and (select count(*) from touched) >= 0
    for update
  ),
  owned as materialized (
    select *
    from unnest(${COLUMNS}, $21::smallint[], $27::boolean[], $28::float8[], $29::text[], $30::float8[], $31::text[],
      $32::text[])
    with ordinality as b (${COLUMN_NAMES}, shard, succeeded, retry_after_ms, next_attempt_id, next_created_at_ms, error_reason,
      error_message, position)
    where attempt_id = any(array(select attempt_id from waiting))
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
    select t.shard, t.id, t.active, c.has_success, t.consecutive_failures as failures_before,
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
      s.active and s.failures >= $25
        and (select now from moment) - s.failing_since >= $26 * interval '1 millisecond' as disables
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
    where w.shard = $22::smallint and w.shard = e.shard and w.id = e.id
  ),
  settled as materialized (
    select o.*,
      case
        when o.succeeded or o.retry_after_ms is null then 'ended'
        when t.active and not coalesce(e.disables, false) then 'waiting'
        else 'dropped'
      end as next_state,
      (select now from moment) + o.retry_after_ms * interval '1 millisecond' as next_at
    from owned o
    left join touched t on t.id = o.webhook_id
    left join evaluated e on e.id = o.webhook_id
  ),
  -- In the order of the attempts. Citus refuses to add an interval to a time in an update.
  retries as materialized (
    select array_agg((select now from moment) + delay_ms * interval '1 millisecond' order by position) as times
    from unnest($28::float8[]) with ordinality as d (delay_ms, position)
  ),
  -- An element of an array that is the whole value of a column crashes Citus 13.2; it is never null here.
  retried as (
    update deliveries
    set attempt = attempt + 1,
      attempt_id = coalesce(($29::text[])[array_position($4::text[], attempt_id)], attempt_id),
      next_at = coalesce(((select times from retries))[array_position($4::text[], attempt_id)], next_at)
    where shard = $22::smallint and event_id > '' and event_id = any($3::text[])
      and attempt_id = any(array(select attempt_id from settled where next_state = 'waiting'))
  ),
  ended as (
    delete from deliveries
    where shard = $22::smallint and event_id > '' and event_id = any($3::text[])
      and attempt_id = any(array(select attempt_id from settled where next_state <> 'waiting'))
  ),
  logged as (
    ${INSERT_ATTEMPTS}
    select shard, attempt_id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt,
      case when succeeded then 'succeeded' else 'failed' end,
      response_status, error_reason, error_message, duration_ms, dns_ms, connect_ms, tls_ms, first_byte_ms,
      remote_address, request_headers, response_headers, response_body, to_timestamp(created_at_ms / 1000),
      to_timestamp(completed_at_ms / 1000)
    from settled
    union all
    select shard, next_attempt_id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt + 1, 'dropped',
      null, null, null, null, null, null, null, null, null, null, null, null, to_timestamp(next_created_at_ms / 1000),
      (select now from moment)
    from settled
    where next_state = 'dropped'
  )
  select
    (
      select json_agg(json_build_object('id', delivery_id, 'nextAtMs',
        case when next_state = 'waiting' then extract(epoch from next_at) * 1000 end))
      from settled
    ) as settled,
    (
      select json_agg(json_build_object('webhookId', id, 'failuresBefore', failures_before,
        'failuresAfter', failures, 'disabled', disables))
      from evaluated
    ) as streaks`;

const FINISH_ATTEMPTS = FINISH_ATTEMPTS_OF_SHARD.replaceAll('= $22::smallint', '= any($22::smallint[])');
