import type { Database } from '../../../db/database.ts';
import { initialValues } from '../../../db/statements/columns.ts';
import { type Clock, makeId } from '../../../platform/clock.ts';
import { afterAttempt } from '../../../rules/webhooks/after-attempt.ts';
import { type DisableBounds, type StreakVerdict, streakAfter } from '../../../rules/webhooks/auto-disable.ts';
import { delayBeforeAttemptMs } from '../../../rules/webhooks/retry-schedule.ts';
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
  /** Before attempts 1, 2, 3, … */
  delaysMs: readonly number[];
  /** In [0, 1). */
  random: () => number;
  clock: Clock;
};

/** The next state of a delivery. */
export type NextAttempt = { attempt: number; attemptId: string; nextAtMs: number };

/** What follows for a delivery from its attempt: see `afterAttempt`. Without a retry there is no next attempt. */
export type Followed = {
  follows: ReturnType<typeof afterAttempt>;
  /** The delay of the schedule; null when it is used up, or not needed. */
  retryAfterMs: number | null;
  next: NextAttempt | null;
};

/** The failure streak of a webhook after a batch. */
export type StreakChange = { webhookId: string; consecutiveFailures: number; verdict: StreakVerdict };

export type RecordedBatch = {
  /** Of each recorded attempt, by delivery id. */
  followed: Map<string, Followed>;
  /** Of webhooks with failures, or without a success, before or in the batch. */
  streaks: StreakChange[];
};

/**
 * Decides and writes all that follows from attempts of one shard, in one transaction and in this order:
 * 1. Which attempts count: not those of a shard that was lost, and not those recorded before, so none counts twice.
 * 2. The failure streak of each webhook, which may disable it.
 * 3. The delivery: the next attempt and its time; the end, after a success or the last attempt; or its drop, when
 *    attempts are left and the webhook is disabled or deleted.
 * 4. The entries of the delivery log, one more for a drop, and the alerts to the account.
 * Afterwards the worker orders starts by the new streaks, and drops what else waits for a disabled webhook.
 */
export async function recordWithStreaks(db: Pick<Database, 'transaction'>, batch: Batch): Promise<RecordedBatch> {
  const shard = batch.attempts[0]!.shard;
  return await db.transaction(async (tx) => {
    const owner = await lockShard(tx, shard);
    const fenced = batch.attempts.filter(({ epoch }) => epoch === owner?.epoch);
    if (!owner || fenced.length === 0) return { followed: new Map(), streaks: [] };
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
    const followed = new Map(
      attempts.map((attempt) => [attempt, follow(attempt, { ...batch, nowMs, isActive: isActive(attempt.webhookId) })]),
    );
    const rows = [...followed].map(([attempt, more]) => ({ ...attempt, ...more }));
    const ended = rows.filter(({ follows }) => follows !== 'retry');
    await scheduleRetries(tx, shard, rows.flatMap(retryOf));
    await deleteEnded(tx, shard, ended);
    await insertLogEntries(
      tx,
      rows.flatMap((row) => entriesOf(row, { nowMs, clock: batch.clock })),
    );
    const disabled = streaks.flatMap(({ change }) => (change.isDisabled ? change.id : []));
    const exhausted = ended.filter(({ succeeded, follows }) => !succeeded && follows === 'end');
    await insertAlerts(tx, { shard, nowMs, disabled, exhausted });
    return {
      followed: new Map([...followed].map(([{ deliveryId }, more]) => [deliveryId, more])),
      streaks: streaks.map(({ streak }) => streak),
    };
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

function follow(
  { attempt, succeeded, askedMs }: FinishedAttempt,
  { delaysMs, random, clock, nowMs, isActive }: Omit<Batch, 'attempts'> & { nowMs: number; isActive: boolean },
): Followed {
  const schedule = { attempt: attempt + 1, delaysMs, random: random(), askedMs };
  const retryAfterMs = succeeded ? null : delayBeforeAttemptMs(schedule);
  const follows = afterAttempt({ succeeded, retryAfterMs, isWebhookActive: isActive });
  const next = { attempt: attempt + 1, attemptId: makeId('dlv', clock), nextAtMs: nowMs + (retryAfterMs ?? 0) };
  return { follows, retryAfterMs, next: follows === 'retry' ? next : null };
}

type Row = FinishedAttempt & Followed;

function retryOf({ eventId, attemptId, next }: Row): Retry[] {
  return next ? [{ eventId, attemptId, nextAttemptId: next.attemptId, nextAtMs: next.nextAtMs }] : [];
}

/** The entry of the attempt, and of the one that is not made because the delivery is dropped. */
function entriesOf(row: Row, { nowMs, clock }: { nowMs: number; clock: Clock }): LogEntry[] {
  const made: LogEntry = { ...row, status: row.succeeded ? 'succeeded' : 'failed' };
  if (row.follows !== 'drop') return [made];
  const dropped: LogEntry = {
    ...row,
    ...initialValues({ ...ATTEMPT_TABLE.result, ...ATTEMPT_TABLE.content }),
    attemptId: makeId('dlv', clock),
    attempt: row.attempt + 1,
    status: 'dropped',
    completedAt: new Date(nowMs),
  };
  return [made, dropped];
}
