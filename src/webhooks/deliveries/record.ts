import type { Config } from '../../config/settings.ts';
import type { Database } from '../../db/database.ts';
import { isDatabaseAway } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { evaluateStreak } from '../../rules/webhooks/auto-disable.ts';
import { dropAllWaiting } from './drop-store.ts';
import type { FinishedAttempt, FinishResult, StreakChange } from './finish-store.ts';
import { finishAttempts } from './finish-store.ts';
import { openShardQueue } from './per-shard-queue.ts';

export type RecorderDeps = {
  db: Database;
  config: Pick<Config, 'webhookDisableFailures' | 'webhookDisableMs'>;
  log: Log;
  clock: Clock;
  metrics?: Pick<Metrics, 'attempts' | 'attemptSeconds' | 'webhookWarnings' | 'webhooksDisabled'> | undefined;
  now: () => Date | null;
  /** How long a batch that the database did not take is tried again, the time of the tries included. */
  patienceMs: number;
  /** A shard's attempts are recorded: its webhooks have places again, and retries are due in so many ms. */
  onRecorded(shard: number, retriesInMs: number[]): void;
};

export type Recorder = {
  add(shard: number, attempt: FinishedAttempt): void;
  /** Resolves when all that was added is recorded or given up; from now on, it gives up soon. */
  finish(): Promise<void>;
};

// Statements at once, each on a connection of its own.
const BATCHES_AT_ONCE = 3;
const MAX_BATCH = 500;
const RETRY_MS = 500;
const LAST_PATIENCE_MS = 1_000;

/** Records finished attempts shard by shard: what gathers while a batch is written becomes the next batch. */
export function openRecorder(deps: RecorderDeps): Recorder {
  const { db, log, clock, metrics } = deps;
  // Its fields are ours and few; looking through them for secrets costs as much as writing them.
  const attemptLog = log.child({}, { redact: [] });
  const { webhookDisableFailures: disableFailures, webhookDisableMs: disableMs } = deps.config;
  const gathered = new Map<number, FinishedAttempt[]>();
  const queue = openShardQueue(BATCHES_AT_ONCE, (shard) =>
    recordShard(shard).catch((error: unknown) => log.error({ err: error, shard }, 'attempts not recorded')),
  );
  let patienceMs = deps.patienceMs;

  function add(shard: number, attempt: FinishedAttempt): void {
    const waiting = gathered.get(shard);
    if (waiting) waiting.push(attempt);
    else gathered.set(shard, [attempt]);
    queue.add(shard);
  }

  async function recordShard(shard: number): Promise<void> {
    const attempts = takeBatch(shard);
    if (attempts.length === 0) return;
    const result = await recordStubbornly(shard, attempts);
    if (!result) return;
    deps.onRecorded(
      shard,
      attempts.flatMap(({ retryAfterMs }) => retryAfterMs ?? []),
    );
    const settled = new Set(result.settledIds);
    for (const attempt of attempts) report(attempt, settled.has(attempt.deliveryId));
    for (const streak of result.streaks) await followStreak(shard, streak, attempts);
  }

  function takeBatch(shard: number): FinishedAttempt[] {
    const waiting = gathered.get(shard) ?? [];
    const batch = waiting.splice(0, MAX_BATCH);
    if (waiting.length > 0) queue.add(shard);
    else gathered.delete(shard);
    return batch;
  }

  /** Tries for as long as the leases hold; after that somebody else makes the attempts again. */
  async function recordStubbornly(shard: number, attempts: FinishedAttempt[]): Promise<FinishResult | null> {
    const startedAtMs = clock.now();
    while (clock.now() - startedAtMs <= patienceMs) {
      try {
        return await finishAttempts(db, { shard, attempts, disableFailures, disableMs, now: deps.now() });
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
        await clock.sleep(RETRY_MS);
      }
    }
    log.warn(
      { shard, attempts: attempts.length },
      'attempts not recorded: the database is away; they will be repeated',
    );
    return null;
  }

  function report(attempt: FinishedAttempt, isSettled: boolean): void {
    const outcome = attempt.succeeded ? 'succeeded' : 'failed';
    metrics?.attempts.inc({ outcome, reason: attempt.errorReason ?? '' });
    metrics?.attemptSeconds.observe(attempt.durationMs / 1000);
    const fields = {
      delivery_id: attempt.attemptId,
      event_id: attempt.eventId,
      event_type: attempt.eventType,
      webhook_id: attempt.webhookId,
      account_id: attempt.accountId,
      attempt: attempt.attempt,
      outcome,
      reason: attempt.errorReason,
      response_status: attempt.responseStatus,
      duration_ms: Math.round(attempt.durationMs * 1000) / 1000,
      retry_after_ms: attempt.retryAfterMs,
    };
    // Superseded: the lease had ended, and somebody else's attempt counts instead.
    attemptLog.info(isSettled ? fields : { ...fields, superseded: true }, 'attempt');
  }

  async function followStreak(shard: number, streak: StreakChange, attempts: FinishedAttempt[]): Promise<void> {
    const { webhookId, failuresAfter, disabled } = streak;
    const fields = { webhook_id: webhookId, consecutive_failures: failuresAfter };
    if (disabled) {
      metrics?.webhooksDisabled.inc();
      log.warn(fields, 'webhook disabled: it failed too often for too long');
      const url = attempts.findLast((attempt) => attempt.webhookId === webhookId)!.url;
      await dropAllWaiting(db, { shard, webhookId, url, now: deps.now() });
    } else if (reachesWarning(streak)) {
      metrics?.webhookWarnings.inc();
      log.warn(fields, 'webhook keeps failing and will be disabled');
    }
  }

  /** A batch may pass a warning's number without stopping at it. */
  function reachesWarning({ failuresBefore, failuresAfter }: StreakChange): boolean {
    for (let failures = failuresBefore + 1; failures <= failuresAfter; failures++) {
      const streak = { consecutiveFailures: failures, failingSinceMs: 0, nowMs: 0, disableFailures, disableMs };
      if (evaluateStreak(streak) === 'warn') return true;
    }
    return false;
  }

  return {
    add,
    async finish() {
      patienceMs = LAST_PATIENCE_MS;
      await queue.idle();
    },
  };
}
