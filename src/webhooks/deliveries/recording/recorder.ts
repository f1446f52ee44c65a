import { isDatabaseAway, isStatementTimeout } from '../../../db/database.ts';
import type { Runtime } from '../../../db/runtime.ts';
import type { Log } from '../../../platform/log.ts';
import type { Metrics } from '../../../platform/metrics.ts';
import { openSemaphore } from '../../../platform/semaphore.ts';
import { traceField } from '../../../rules/network/traceparent.ts';
import { finishDroppedAttempts } from './dropped-attempt-store.ts';
import type { FinishedAttempt } from './finished-attempt.ts';
import { type Followed, recordWithStreaks, type StreakChange } from './follow-attempts.ts';
import { finishSuccesses } from './success-store.ts';

export type RecorderRuntime = Runtime & {
  metrics?: Pick<
    Metrics,
    'attempts' | 'attemptSeconds' | 'webhookWarnings' | 'webhooksDisabled' | 'deliveriesExhausted'
  >;
  /** The current time for SQL statements; default: the database's clock. */
  sqlNow?: () => Date;
  /** In [0, 1); default: Math.random. */
  random?: () => number;
};

/**
 * The end of an attempt. `recorded`: with what follows. `refused`: it is not to be recorded any more, or was recorded
 * by a statement whose answer was lost.
 * `failed`: it cannot be recorded, now or ever.
 */
type AttemptEnd = ({ kind: 'recorded' } & Followed) | { kind: 'refused' } | { kind: 'failed' };

type RecorderEvents = {
  /** A webhook began or ended a series of failures, or was disabled. */
  streak(streak: StreakChange): void;
  /** Attempts of a shard cannot be recorded, or can again. */
  stall(shard: number, isStalled: boolean): void;
};

// Each statement costs as much as ten of its rows.
const GATHER_MS = 10;
const MAX_BATCH = 500;
// The other connections are for what is read.
const TRANSACTIONS_AT_ONCE = 4;
const RETRY_MS = 100;
const MAX_RETRY_AT_STOP_MS = 1_000;

/**
 * What is recorded in the transactions of one shard, one after the other.
 * `webhooks`: those of the attempts since the queue was empty.
 */
type ShardQueue = { pending: FinishedAttempt[]; webhooks: Set<string>; writing: Promise<void> };

/**
 * Records finished attempts: the successes that ended within 10 ms in one statement, failures and ends of streaks in
 * one transaction for each shard. Attempts that end meanwhile form the next batch. A batch whose end is
 * unknown, because the connection broke, is written again by each of its shards until its end is known:
 * an attempt that was recorded is then refused. A shard that waits for a lock holds back no other one; four at once
 * hold back the failures of the others until their statements time out.
 */
export class Recorder {
  readonly #runtime: RecorderRuntime;
  readonly #attemptLog: Log;
  readonly #inTurn = openSemaphore(TRANSACTIONS_AT_ONCE);
  readonly #on: RecorderEvents;
  /** Those with something to record in a transaction. */
  readonly #shards = new Map<number, ShardQueue>();
  readonly #stalled = new Set<number>();
  #pending: FinishedAttempt[] = [];
  /** Those that are not recorded yet. */
  readonly #ends = new Map<FinishedAttempt, (end: AttemptEnd) => void>();
  #isFull = Promise.withResolvers<void>();
  #writing: Promise<void> | null = null;
  #stoppedAtMs = Number.POSITIVE_INFINITY;
  #isAway = false;

  constructor(runtime: RecorderRuntime, on: RecorderEvents) {
    this.#runtime = runtime;
    this.#on = on;
    // No redaction: the few fields hold no secrets, and searching them costs as much as writing them.
    this.#attemptLog = runtime.log.child({}, { redact: [] });
  }

  /**
   * Connects and plans the statement, so that the first record takes no longer than others: what is sent meanwhile
   * would be sent again after a crash.
   */
  async warmUp(): Promise<void> {
    const { db } = this.#runtime;
    await finishSuccesses(db, []).catch(() => undefined);
  }

  /** Attempts that are not recorded yet. */
  get size(): number {
    return this.#ends.size;
  }

  /** The database does not respond: a crash now would repeat all that is sent meanwhile. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Resolves when the attempt is recorded, or is not to be recorded any more. */
  record(attempt: FinishedAttempt): Promise<AttemptEnd> {
    const { promise, resolve } = Promise.withResolvers<AttemptEnd>();
    this.#ends.set(attempt, resolve);
    if (this.#pending.push(attempt) >= MAX_BATCH) this.#isFull.resolve();
    this.#writing ??= this.#writeAll();
    return promise;
  }

  /** Resolves when all attempts are recorded or given up. Retries end sooner from now on. */
  async finish(): Promise<void> {
    this.#stoppedAtMs = this.#runtime.clock.now();
    this.#isFull.resolve();
    await this.#writing;
    await Promise.all([...this.#shards.values()].map(({ writing }) => writing));
  }

  async #writeAll(): Promise<void> {
    const { clock } = this.#runtime;
    while (this.#pending.length > 0) {
      const gathered = new AbortController();
      if (this.#stoppedAtMs === Number.POSITIVE_INFINITY && this.#pending.length < MAX_BATCH)
        await Promise.race([clock.sleep(GATHER_MS, gathered.signal), this.#isFull.promise]);
      gathered.abort(null);
      this.#isFull = Promise.withResolvers();
      const batch = this.#pending.splice(0, MAX_BATCH);
      await this.#write(batch);
    }
    this.#writing = null;
  }

  /** Most successes are recorded for all shards at once; the rest changes webhooks, whose rows are locked. */
  async #write(batch: FinishedAttempt[]): Promise<void> {
    const { db } = this.#runtime;
    // A success and a failure of one webhook are recorded together, in the order in which they ended.
    const failing = new Set(batch.flatMap(({ succeeded, webhookId }) => (succeeded ? [] : webhookId)));
    const successes = batch.filter(
      (attempt) => attempt.succeeded && !failing.has(attempt.webhookId) && !this.#isBehindOthers(attempt),
    );
    const recorded = new Set(await this.#tryOnce(successes, () => finishSuccesses(db, successes)));
    const [done, rest] = [true, false].map((is) => batch.filter(({ deliveryId }) => recorded.has(deliveryId) === is));
    for (const attempt of done!)
      this.#end(attempt, { kind: 'recorded', follows: 'end', retryAfterMs: null, next: null });
    for (const [shard, attempts] of Map.groupBy(rest!, (attempt) => attempt.shard)) this.#add(shard, attempts);
  }

  /** Whether it is recorded after attempts that wait in the queue of its shard. */
  #isBehindOthers({ shard, webhookId }: FinishedAttempt): boolean {
    return this.#stalled.has(shard) || (this.#shards.get(shard)?.webhooks.has(webhookId) ?? false);
  }

  #add(shard: number, attempts: FinishedAttempt[]): void {
    const known = this.#shards.get(shard);
    const queue = known ?? { pending: [], webhooks: new Set(), writing: Promise.resolve() };
    queue.pending.push(...attempts);
    for (const { webhookId } of attempts) queue.webhooks.add(webhookId);
    if (known) return;
    this.#shards.set(shard, queue);
    queue.writing = this.#writeShard(shard, queue.pending);
  }

  async #writeShard(shard: number, pending: FinishedAttempt[]): Promise<void> {
    while (pending.length > 0) await this.#writeWithStreaks(pending.splice(0, MAX_BATCH));
    this.#shards.delete(shard);
  }

  async #writeWithStreaks(attempts: FinishedAttempt[]): Promise<void> {
    const { db, clock, config, sqlNow, random = Math.random } = this.#runtime;
    const { webhookDisableFailures: disableFailures, webhookDisableMs: disableMs } = config;
    const delaysMs = config.webhookRetryDelaysMs;
    const batch = { attempts, disableFailures, disableMs, delaysMs, random, clock };
    const result = await this.#retry(attempts, () => recordWithStreaks(db, { ...batch, now: sqlNow?.() ?? null }));
    if (result) {
      for (const streak of result.streaks) this.#reportStreak(streak);
      for (const streak of result.streaks) this.#on.streak(streak);
      // A delivery may have been dropped while its attempt was in flight: the log shows the result nevertheless.
      const refused = attempts.filter(({ deliveryId }) => !result.followed.has(deliveryId));
      await this.#retry(refused, () => finishDroppedAttempts(db, refused));
      for (const attempt of attempts) {
        const followed = result.followed.get(attempt.deliveryId);
        this.#end(attempt, followed ? { kind: 'recorded', ...followed } : { kind: 'refused' });
      }
    } else if (attempts.length > 1 && !this.#isGivenUp()) {
      // One that cannot be stored must not keep the others from being recorded.
      for (const attempt of attempts) await this.#writeWithStreaks([attempt]);
    } else {
      for (const attempt of attempts) this.#end(attempt, { kind: 'failed' });
    }
  }

  /** Repeats the statement while the database is away. Null when it was given up, or the database refuses it. */
  async #retry<Result>(attempts: FinishedAttempt[], statement: () => Promise<Result>): Promise<Result | null> {
    const { clock } = this.#runtime;
    while (attempts.length > 0) {
      const result = await this.#tryOnce(attempts, () => this.#inTurn(statement), attempts[0]!.shard);
      if (result || !this.#stalled.has(attempts[0]!.shard) || this.#isGivenUp()) return result;
      await clock.sleep(RETRY_MS);
    }
    return null;
  }

  /** Null when the statement failed. @param shard  the only one of the attempts: it is stalled until a try succeeds */
  async #tryOnce<Result>(
    attempts: FinishedAttempt[],
    statement: () => Promise<Result>,
    shard: number | null = null,
  ): Promise<Result | null> {
    if (attempts.length === 0) return null;
    const { log } = this.#runtime;
    try {
      const result = await statement();
      this.#isAway = false;
      this.#setStalled(shard, false);
      return result;
    } catch (error) {
      const fields = { err: error, attempts: attempts.length, ...(shard !== null && { shard }) };
      const isNew = shard === null || !this.#stalled.has(shard);
      this.#setStalled(shard, isDatabaseAway(error));
      this.#isAway = isDatabaseAway(error) && !isStatementTimeout(error);
      if (!isDatabaseAway(error)) log.error(fields, 'attempts not recorded');
      else if (isNew) log.warn(fields, 'attempts not recorded: the database is unavailable');
      return null;
    }
  }

  #setStalled(shard: number | null, isStalled: boolean): void {
    if (shard === null || this.#stalled.has(shard) === isStalled) return;
    if (isStalled) this.#stalled.add(shard);
    else this.#stalled.delete(shard);
    this.#on.stall(shard, isStalled);
  }

  #isGivenUp(): boolean {
    return this.#runtime.clock.now() - this.#stoppedAtMs > MAX_RETRY_AT_STOP_MS;
  }

  #end(attempt: FinishedAttempt, end: AttemptEnd): void {
    this.#report(attempt, end);
    this.#ends.get(attempt)!(end);
    this.#ends.delete(attempt);
  }

  #report(attempt: FinishedAttempt, end: AttemptEnd): void {
    const { kind } = end;
    const { metrics } = this.#runtime;
    const outcome = attempt.succeeded ? 'succeeded' : 'failed';
    if (kind !== 'failed') {
      metrics?.attempts.inc({ outcome, reason: attempt.errorReason ?? '' });
      metrics?.attemptSeconds.observe(attempt.durationMs / 1000);
    }
    if (kind === 'recorded' && !attempt.succeeded && end.follows === 'end') metrics?.deliveriesExhausted.inc();
    // The delivery log has each success; a line for it here would cost a tenth of the deliverer's time.
    const level = attempt.succeeded && kind === 'recorded' ? 'debug' : 'info';
    if (!this.#attemptLog.isLevelEnabled(level)) return;
    const fields = {
      attempt_id: attempt.attemptId,
      delivery_id: attempt.deliveryId,
      event_id: attempt.eventId,
      ...(attempt.jobId !== null && { job_id: attempt.jobId }),
      ...traceField(attempt.traceparent),
      event_type: attempt.eventType,
      webhook_id: attempt.webhookId,
      account_id: attempt.accountId,
      attempt: attempt.attempt,
      outcome,
      reason: attempt.errorReason,
      response_status: attempt.responseStatus,
      duration_ms: Math.round(attempt.durationMs * 1000) / 1000,
      retry_after_ms: kind === 'recorded' ? end.retryAfterMs : null,
    };
    // Superseded: the shard was lost or the delivery dropped during the attempt, so it does not count.
    const notCounted = { recorded: {}, refused: { superseded: true }, failed: { recorded: false } }[kind];
    this.#attemptLog[level]({ ...fields, ...notCounted }, 'attempt');
  }

  #reportStreak(streak: StreakChange): void {
    const { log, metrics } = this.#runtime;
    const fields = { webhook_id: streak.webhookId, consecutive_failures: streak.consecutiveFailures };
    if (streak.verdict === 'disable') {
      metrics?.webhooksDisabled.inc();
      log.warn(fields, 'webhook disabled: it failed too often for too long');
    } else if (streak.verdict === 'warn') {
      metrics?.webhookWarnings.inc();
      log.warn(fields, 'webhook keeps failing and will be disabled');
    }
  }
}
