import type { Sql } from '../../../db/database.ts';
import { defineStatement } from '../../../db/statements/named-parameters.ts';
import { plainArray } from '../../../db/statements/plain-array.ts';
import type { FinishedAttempt } from './finished-attempt.ts';
import { ATTEMPT_ARRAYS, ATTEMPT_COLUMNS, attemptColumns, INSERT_ATTEMPTS } from './log-store.ts';

/**
 * Records successes of any shards in one statement: deletes their deliveries and inserts their log entries. Returns the
 * ids of the deliveries. Left out are attempts that are no longer to be recorded, and those of webhooks with failures
 * before or without a success: `recordWithStreaks` records these.
 */
export async function finishSuccesses(sql: Sql, attempts: FinishedAttempt[]): Promise<string[]> {
  const rows = await sql.rows<{ deliveryId: string }>(
    FINISH_SUCCESSES({
      ...attemptColumns(attempts),
      epochs: plainArray(attempts.map(({ epoch }) => epoch)),
      distinctShards: plainArray([...new Set(attempts.map(({ shard }) => shard))]),
      distinctWebhookIds: plainArray([...new Set(attempts.map(({ webhookId }) => webhookId))]),
    }),
  );
  return rows.map(({ deliveryId }) => deliveryId);
}

// A deliverer that takes one of the shards waits for the statement, or makes it ignore the shard. Deliveries are found
// by arrays of their events and attempts, never by a join: a plan that was made while the table was nearly empty would
// read the whole shard first, for each attempt. A list before `is true` is hashed, whatever the plan.
const FINISH_SUCCESSES = defineStatement(
  { name: 'finish-successes' },
  `with fence as materialized (
    select shard, epoch
    from delivery_shards
    where shard = any($distinctShards::smallint[])
    order by shard
    for share
  ),
  plain as materialized (
    select id
    from webhooks
    where shard = any($distinctShards::smallint[]) and id = any($distinctWebhookIds::text[])
      and consecutive_failures = 0 and has_succeeded
  ),
  owned as materialized (
    select attempt_id
    from unnest($attemptIds::text[], $webhookIds::text[], $shards::smallint[], $epochs::bigint[])
      as b (attempt_id, webhook_id, shard, epoch)
    where (b.shard::bigint << 48) + b.epoch = any(array(select (shard::bigint << 48) + epoch from fence))
      and (b.webhook_id in (select id from plain)) is true
  ),
  ended as (
    delete from deliveries
    where shard = any($distinctShards::smallint[]) and event_id > '' and event_id = any($eventIds::text[])
      and (attempt_id in (select attempt_id from owned)) is true
    returning attempt_id
  )
  ${INSERT_ATTEMPTS}
  select shard, attempt_id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt, 'succeeded',
    response_status, null, null, duration_ms, dns_ms, connect_ms, tls_ms, first_byte_ms, remote_address,
    request_headers, response_headers, response_body, to_timestamp(created_at_ms / 1000),
    to_timestamp(completed_at_ms / 1000)
  from unnest(${ATTEMPT_ARRAYS}) as b (${ATTEMPT_COLUMNS})
  where (attempt_id in (select attempt_id from ended)) is true
  returning delivery_id as "deliveryId"`,
);
