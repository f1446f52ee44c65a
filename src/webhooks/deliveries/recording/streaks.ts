import type { Database } from '../../../db/database.ts';
import { initialValues } from '../../../db/statements/columns.ts';
import { afterAttempt } from '../../../rules/webhooks/after-attempt.ts';
import { type DisableBounds, type StreakVerdict, streakAfter } from '../../../rules/webhooks/auto-disable.ts';
import { ATTEMPT_TABLE } from '../../events/attempt-table.ts';
import { insertAlerts } from './alerts.ts';
import type { FinishedAttempt } from './finished-attempt.ts';
import { insertLogEntries, type LogEntry } from './log-store.ts';
import {
  changeWebhooks,
  deleteEnded,
  type LockedWebhook,
  lockShard,
  lockWaiting,
  lockWebhooks,
  type Retry,
  scheduleRetries,
} from './streak-store.ts';

type Batch = DisableBounds & {
  /** All of one shard, in the order in which they ended: a success ends the failure streak before it. */
  attempts: FinishedAttempt[];
  /** Null: the database's clock. */
  now?: Date | null;
};

/** The failure streak of a webhook after a batch. */
export type StreakChange = { webhookId: string; consecutiveFailures: number; verdict: StreakVerdict };

export type RecordedBatch = {
  /**
   * When the next attempt of each recorded delivery is due, in ms since the epoch; null without one. By delivery id.
   */
  nextAtMs: Map<string, number | null>;
  /** Of webhooks with failures, or without a success, before or in the batch. */
  streaks: StreakChange[];
};

/**
 * Records attempts of one shard in one transaction: the failure streaks of the webhooks, which may disable a webhook,
 * the next states of the deliveries, and the log entries. Attempts of a shard that was lost are ignored, and those
 * recorded before, so none counts twice. When the webhook is disabled or deleted, a delivery with attempts left is
 * dropped and logged as dropped.
 */
export async function recordWithStreaks(db: Pick<Database, 'transaction'>, batch: Batch): Promise<RecordedBatch> {
  const shard = batch.attempts[0]!.shard;
  return await db.transaction(async (tx) => {
    const owner = await lockShard(tx, shard);
    const fenced = batch.attempts.filter(({ epoch }) => epoch === owner?.epoch);
    if (!owner || fenced.length === 0) return { nextAtMs: new Map(), streaks: [] };
    const ids = distinct(fenced);
    const failing = distinct(fenced.filter(({ succeeded }) => !succeeded));
    // Webhooks are locked before deliveries, as in every transaction that changes both. A delivery may be dropped while
    // this one waits for its webhook, and must not count then.
    const webhooks = await lockWebhooks(tx, { shard, ids, failing });
    const waiting = await lockWaiting(tx, shard, fenced);
    const attempts = fenced.filter(({ attemptId }) => waiting.has(attemptId));
    const nowMs = batch.now?.getTime() ?? owner.nowMs;
    const streaks = streaksAfter(webhooks, attempts, { ...batch, nowMs });
    await changeWebhooks(tx, shard, { nowMs, webhooks: streaks.map(({ change }) => change) });
    const isActive = (id: string) => streaks.some(({ change }) => change.id === id && change.isActive);
    const { retries, ended, entries } = followAttempts(attempts, isActive, nowMs);
    await scheduleRetries(tx, shard, retries);
    await deleteEnded(tx, shard, ended);
    await insertLogEntries(tx, entries);
    const disabled = streaks.flatMap(({ change }) => (change.isDisabled ? change.id : []));
    const exhausted = ended.filter(({ succeeded, retryAfterMs }) => !succeeded && retryAfterMs === null);
    await insertAlerts(tx, { shard, nowMs, disabled, exhausted });
    const nextAtMs = new Map<string, number | null>(attempts.map(({ deliveryId }) => [deliveryId, null]));
    for (const retry of retries) nextAtMs.set(retry.deliveryId, retry.nextAtMs);
    return { nextAtMs, streaks: streaks.map(({ streak }) => streak) };
  });
}

function distinct(attempts: FinishedAttempt[]): string[] {
  return [...new Set(attempts.map(({ webhookId }) => webhookId))];
}

function streaksAfter(
  webhooks: LockedWebhook[],
  attempts: FinishedAttempt[],
  bounds: DisableBounds & { nowMs: number },
) {
  const byWebhook = Map.groupBy(attempts, ({ webhookId }) => webhookId);
  return webhooks.flatMap((webhook) => {
    const outcomes = byWebhook.get(webhook.id)?.map(({ succeeded }) => succeeded);
    if (!outcomes) return [];
    const { verdict, ...streak } = streakAfter(webhook, outcomes, bounds);
    const isDisabled = webhook.active && verdict === 'disable';
    const change = {
      id: webhook.id,
      ...streak,
      hasSuccess: outcomes.includes(true),
      isDisabled,
      isActive: webhook.active && !isDisabled,
    };
    const shown: StreakVerdict = verdict === 'disable' && !isDisabled ? 'keep' : verdict;
    return [
      { change, streak: { webhookId: webhook.id, consecutiveFailures: streak.consecutiveFailures, verdict: shown } },
    ];
  });
}

/** The next state of each delivery, and the log entries. */
function followAttempts(attempts: FinishedAttempt[], isActive: (webhookId: string) => boolean, nowMs: number) {
  const retries: (Retry & { deliveryId: string })[] = [];
  const ended: FinishedAttempt[] = [];
  const entries: LogEntry[] = [];
  for (const attempt of attempts) {
    const { retryAfterMs, nextAttemptId, succeeded } = attempt;
    entries.push({ ...attempt, status: succeeded ? 'succeeded' : 'failed' });
    const next = afterAttempt({ succeeded, retryAfterMs, isWebhookActive: isActive(attempt.webhookId) });
    if (next === 'retry') retries.push({ ...attempt, nextAttemptId: nextAttemptId!, nextAtMs: nowMs + retryAfterMs! });
    else ended.push(attempt);
    if (next === 'drop') entries.push(droppedEntry(attempt, nowMs));
  }
  return { retries, ended, entries };
}

/** The entry of the attempt that is not made. */
function droppedEntry(finished: FinishedAttempt, nowMs: number): LogEntry {
  return {
    ...finished,
    ...initialValues({ ...ATTEMPT_TABLE.result, ...ATTEMPT_TABLE.content }),
    attemptId: finished.nextAttemptId!,
    attempt: finished.attempt + 1,
    status: 'dropped',
    completedAt: new Date(nowMs),
  };
}
