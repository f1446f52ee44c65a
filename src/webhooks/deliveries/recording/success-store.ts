import type { Sql } from '../../../db/database.ts';
import { defineStatement } from '../../../db/statements/named-parameters.ts';
import { plainArray } from '../../../db/statements/plain-array.ts';
import type { FinishedAttempt } from './finished-attempt.ts';
import { entryValues, insertEntries } from './log-store.ts';

/**
 * Records successes of any shards in one statement: deletes their deliveries and inserts their log entries. Returns the
 * ids of the deliveries. Left out are attempts that are no longer to be recorded, and those of webhooks with failures
 * before or without a success: `recordWithStreaks` records these.
 */
export async function finishSuccesses(sql: Sql, attempts: FinishedAttempt[]): Promise<string[]> {
  const rows = await sql.rows<{ deliveryId: string }>(
    FINISH_SUCCESSES({
      ...entryValues(attempts),
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
    from unnest($attemptIdValues::text[], $webhookIdValues::text[], $shardValues::smallint[], $epochs::bigint[])
      as b (attempt_id, webhook_id, shard, epoch)
    where (b.shard::bigint << 48) + b.epoch = any(array(select (shard::bigint << 48) + epoch from fence))
      and (b.webhook_id in (select id from plain)) is true
  ),
  ended as (
    delete from deliveries
    where shard = any($distinctShards::smallint[]) and event_id > '' and event_id = any($eventIdValues::text[])
      and (attempt_id in (select attempt_id from owned)) is true
    returning attempt_id
  )
  ${insertEntries(
    { status: `'succeeded'`, errorReason: 'null', errorMessage: 'null' },
    '(attempt_id in (select attempt_id from ended)) is true',
  )}
  returning delivery_id as "deliveryId"`,
);
