import type { Sql } from '../../../db/database.ts';
import { defineStatement } from '../../../db/statements/named-parameters.ts';
import { plainArray } from '../../../db/statements/plain-array.ts';

/** A webhook whose row is locked. */
export type LockedWebhook = {
  id: string;
  active: boolean;
  consecutiveFailures: number;
  failingSinceMs: number | null;
};

/** What is written to a webhook. */
export type WebhookChange = {
  id: string;
  consecutiveFailures: number;
  failingSinceMs: number | null;
  hasSuccess: boolean;
  isDisabled: boolean;
};

/** A delivery with another attempt, due at `nextAtMs`. */
export type Retry = { eventId: string; attemptId: string; nextAttemptId: string; nextAtMs: number };

type Waiting = { eventId: string; attemptId: string };

// Each statement names one shard: Citus locks rows of one shard only.

/**
 * Locks the shard's owner: who takes the shard waits for the end of the transaction. Null when there is no such shard.
 */
export async function lockShard(tx: Sql, shard: number): Promise<{ epoch: number; nowMs: number } | null> {
  const [row] = await tx.rows<{ epoch: number; nowMs: number }>(LOCK_SHARD({ shard }));
  return row ?? null;
}

const LOCK_SHARD = defineStatement(
  { name: 'lock-delivery-shard' },
  `select epoch, ceil(extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"
  from delivery_shards
  where shard = $shard
  for share`,
);

/**
 * Locks those of the webhooks that the attempts change, in order of id as in every transaction that changes several. A
 * success changes a webhook only when it ends a streak or is the first.
 */
export async function lockWebhooks(
  tx: Sql,
  webhooks: { shard: number; ids: string[]; failing: string[] },
): Promise<LockedWebhook[]> {
  const { shard, ids, failing } = webhooks;
  return await tx.rows(LOCK_WEBHOOKS({ shard, ids: plainArray(ids), failing: plainArray(failing) }));
}

const LOCK_WEBHOOKS = defineStatement(
  { name: 'lock-webhooks' },
  `select id, active, consecutive_failures as "consecutiveFailures",
    (extract(epoch from failing_since) * 1000)::float8 as "failingSinceMs"
  from webhooks
  where shard = $shard and id = any($ids::text[])
    and (id = any($failing::text[]) or consecutive_failures > 0 or not has_succeeded)
  order by id
  for update`,
);

/** Locks the deliveries that still wait under these attempts, and returns the ids of the attempts. */
export async function lockWaiting(tx: Sql, shard: number, attempts: Waiting[]): Promise<Set<string>> {
  const rows = await tx.rows<{ attemptId: string }>(LOCK_WAITING({ shard, ...waitingColumns(attempts) }));
  return new Set(rows.map(({ attemptId }) => attemptId));
}

// By arrays, not by a join: see success-store.ts.
const ARE_THESE = `event_id = any($eventIds::text[])
    and attempt_id = any($attemptIds::text[])`;

const LOCK_WAITING = defineStatement(
  { name: 'lock-waiting-deliveries' },
  `select attempt_id as "attemptId" from deliveries where shard = $shard and event_id > '' and ${ARE_THESE} for update`,
);

/** Writes the streaks of locked webhooks. */
export async function changeWebhooks(
  tx: Sql,
  shard: number,
  changes: { nowMs: number; webhooks: WebhookChange[] },
): Promise<void> {
  const { nowMs, webhooks } = changes;
  if (webhooks.length === 0) return;
  await tx.run(
    CHANGE_WEBHOOKS({
      shard,
      now: new Date(nowMs),
      ids: plainArray(webhooks.map(({ id }) => id)),
      failures: plainArray(webhooks.map(({ consecutiveFailures }) => consecutiveFailures)),
      failingSince: plainArray(webhooks.map(({ failingSinceMs }) => failingSinceMs)),
      haveSuccess: plainArray(webhooks.map(({ hasSuccess }) => hasSuccess)),
      areDisabled: plainArray(webhooks.map(({ isDisabled }) => isDisabled)),
    }),
  );
}

const CHANGE_WEBHOOKS = defineStatement(
  { name: 'change-webhook-streaks' },
  `update webhooks w
  set consecutive_failures = c.failures,
    failing_since = to_timestamp(c.failing_since_ms / 1000),
    has_succeeded = w.has_succeeded or c.has_success,
    active = w.active and not c.is_disabled,
    disabled_reason = case when c.is_disabled then 'consecutive_failures' else w.disabled_reason end,
    disabled_at = case when c.is_disabled then $now::timestamptz else w.disabled_at end,
    updated_at = case when c.is_disabled then $now::timestamptz else w.updated_at end
  from unnest($ids::text[], $failures::int[], $failingSince::float8[], $haveSuccess::boolean[], $areDisabled::boolean[])
    as c (id, failures, failing_since_ms, has_success, is_disabled)
  where w.shard = $shard and w.id = c.id`,
);

/** Schedules the next attempts of locked deliveries. */
export async function scheduleRetries(tx: Sql, shard: number, retries: Retry[]): Promise<void> {
  if (retries.length === 0) return;
  await tx.run(
    SCHEDULE_RETRIES({
      shard,
      ...waitingColumns(retries),
      nextAttemptIds: plainArray(retries.map(({ nextAttemptId }) => nextAttemptId)),
      nextAt: plainArray(retries.map(({ nextAtMs }) => nextAtMs)),
    }),
  );
}

// An element of an array that is the whole value of a column crashes Citus 13.2; it is never null here.
const SCHEDULE_RETRIES = defineStatement(
  { name: 'schedule-retries' },
  `update deliveries
  set attempt = attempt + 1,
    attempt_id = coalesce(($nextAttemptIds::text[])[array_position($attemptIds::text[], attempt_id)], attempt_id),
    next_at = to_timestamp(($nextAt::float8[])[array_position($attemptIds::text[], attempt_id)] / 1000)
  where shard = $shard and event_id > '' and ${ARE_THESE}`,
);

/** Deletes locked deliveries that have no further attempt. */
export async function deleteEnded(tx: Sql, shard: number, ended: Waiting[]): Promise<void> {
  if (ended.length > 0) await tx.run(DELETE_ENDED({ shard, ...waitingColumns(ended) }));
}

const DELETE_ENDED = defineStatement(
  { name: 'delete-ended-deliveries' },
  `delete from deliveries where shard = $shard and event_id > '' and ${ARE_THESE}`,
);

function waitingColumns(attempts: Waiting[]) {
  return {
    eventIds: plainArray(attempts.map(({ eventId }) => eventId)),
    attemptIds: plainArray(attempts.map(({ attemptId }) => attemptId)),
  };
}
