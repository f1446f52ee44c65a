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
import { ShardQueue } from './per-shard-queue.ts';

export type RecorderDeps = {
  db: Database;
  config: Pick<Config, 'webhookDisableFailures' | 'webhookDisableMs'>;
  log: Log;
  clock: Clock;
  metrics?: Pick<Metrics, 'attempts' | 'attemptSeconds' | 'webhookWarnings' | 'webhooksDisabled'> | undefined;
  now: () => Date | null;
  /** How long a batch is retried while the database is unavailable, the time of the statements included. */
  maxRetryMs: number;
  /** Attempts of a shard are recorded: more of its deliveries can be claimed, and retries are due in so many ms. */
  onRecorded(shard: number, retriesInMs: number[]): void;
};

// Each uses a database connection.
const CONCURRENT_BATCHES = 3;
const MAX_BATCH = 500;
const RETRY_MS = 500;
const MAX_RETRY_AT_STOP_MS = 1_000;

/** Records finished attempts shard by shard. Attempts that end while a batch is written form the next batch. */
export class Recorder {
  readonly #deps: RecorderDeps;
  readonly #attemptLog: Log;
  readonly #disableBounds: { disableFailures: number; disableMs: number };
  readonly #pending = new Map<number, FinishedAttempt[]>();
  readonly #queue: ShardQueue;
  #maxRetryMs: number;

  constructor(deps: RecorderDeps) {
    const { log, config, maxRetryMs } = deps;
    this.#deps = deps;
    // No redaction: the few fields hold no secrets, and searching them costs as much as writing them.
    this.#attemptLog = log.child({}, { redact: [] });
    this.#disableBounds = { disableFailures: config.webhookDisableFailures, disableMs: config.webhookDisableMs };
    this.#maxRetryMs = maxRetryMs;
    this.#queue = new ShardQueue(CONCURRENT_BATCHES, (shard) =>
      this.#recordBatch(shard).catch((error: unknown) => log.error({ err: error, shard }, 'attempts not recorded')),
    );
  }

  add(shard: number, attempt: FinishedAttempt): void {
    const pending = this.#pending.get(shard);
    if (pending) pending.push(attempt);
    else this.#pending.set(shard, [attempt]);
    this.#queue.add(shard);
  }

  /** Resolves when all attempts are recorded or given up. Retries end sooner from now on. */
  async finish(): Promise<void> {
    this.#maxRetryMs = MAX_RETRY_AT_STOP_MS;
    await this.#queue.idle();
  }

  async #recordBatch(shard: number): Promise<void> {
    const attempts = this.#takeBatch(shard);
    if (attempts.length === 0) return;
    const result = await this.#recordWithRetries(shard, attempts);
    if (!result) return;
    this.#deps.onRecorded(
      shard,
      attempts.flatMap(({ retryAfterMs }) => retryAfterMs ?? []),
    );
    const settled = new Set(result.settledIds);
    for (const attempt of attempts) this.#report(attempt, settled.has(attempt.deliveryId));
    for (const streak of result.streaks) await this.#handleStreak(shard, streak, attempts);
  }

  #takeBatch(shard: number): FinishedAttempt[] {
    const pending = this.#pending.get(shard) ?? [];
    const batch = pending.splice(0, MAX_BATCH);
    if (pending.length > 0) this.#queue.add(shard);
    else this.#pending.delete(shard);
    return batch;
  }

  /** Retries until the leases end; the attempts are then repeated. Null when they were not recorded. */
  async #recordWithRetries(shard: number, attempts: FinishedAttempt[]): Promise<FinishResult | null> {
    const { db, clock, log, now } = this.#deps;
    const startedAtMs = clock.now();
    while (clock.now() - startedAtMs <= this.#maxRetryMs) {
      try {
        return await finishAttempts(db, { shard, attempts, ...this.#disableBounds, now: now() });
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
        await clock.sleep(RETRY_MS);
      }
    }
    log.warn(
      { shard, attempts: attempts.length },
      'attempts not recorded: the database is unavailable; they will be repeated',
    );
    return null;
  }

  #report(attempt: FinishedAttempt, isSettled: boolean): void {
    const { metrics } = this.#deps;
    const outcome = attempt.succeeded ? 'succeeded' : 'failed';
    metrics?.attempts.inc({ outcome, reason: attempt.errorReason ?? '' });
    metrics?.attemptSeconds.observe(attempt.durationMs / 1000);
    // A line costs 10 µs, and the table `attempts` has what it says.
    const level = attempt.succeeded && isSettled ? 'debug' : 'info';
    if (!this.#attemptLog.isLevelEnabled(level)) return;
    const fields = {
      attempt_id: attempt.attemptId,
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
    // Superseded: the lease ended before this attempt, so another attempt counts.
    this.#attemptLog[level](isSettled ? fields : { ...fields, superseded: true }, 'attempt');
  }

  async #handleStreak(shard: number, streak: StreakChange, attempts: FinishedAttempt[]): Promise<void> {
    const { db, log, metrics, now } = this.#deps;
    const { webhookId, failuresAfter, disabled } = streak;
    const fields = { webhook_id: webhookId, consecutive_failures: failuresAfter };
    if (disabled) {
      metrics?.webhooksDisabled.inc();
      log.warn(fields, 'webhook disabled: it failed too often for too long');
      const { url } = attempts.findLast((attempt) => attempt.webhookId === webhookId)!;
      await dropAllWaiting(db, { shard, webhookId, url, now: now() });
    } else if (this.#reachesWarning(streak)) {
      metrics?.webhookWarnings.inc();
      log.warn(fields, 'webhook keeps failing and will be disabled');
    }
  }

  /** Evaluates every number of failures that the batch passed, as the warning may be at one in between. */
  #reachesWarning({ failuresBefore, failuresAfter }: StreakChange): boolean {
    for (let failures = failuresBefore + 1; failures <= failuresAfter; failures++) {
      const streak = { consecutiveFailures: failures, failingSinceMs: 0, nowMs: 0, ...this.#disableBounds };
      if (evaluateStreak(streak) === 'warn') return true;
    }
    return false;
  }
}
