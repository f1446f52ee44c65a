import type { Sql } from '../../db/database.ts';
import { isDatabaseAway } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { timeOfId } from '../../rules/ids.ts';
import type { DatabaseClock } from '../ownership/database-clock.ts';
import type { Ownership } from '../ownership/ownership.ts';
import { LargeBodies } from '../scheduler/large-bodies.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { UnreadableSecret } from '../secrets/signers.ts';
import type { WaitingDelivery, WebhookSettings } from './due-store.ts';
import { MAX_WAITING_BODY_BYTES, postponeDelivery, readBodies } from './due-store.ts';
import type { FinishedAttempt } from './recording/finished-attempt.ts';
import type { AttemptEnd, Recorder } from './recording/recorder.ts';
import type { ReadyDelivery, SendOptions } from './send.ts';
import { sendAttempt } from './send.ts';
import type { WebhookCache } from './webhook-cache.ts';
import { maySend } from './webhook-cache.ts';

export type AttemptsDeps = {
  db: Sql;
  clock: Clock;
  log: Log;
  databaseClock: DatabaseClock;
  scheduler: Scheduler<WaitingDelivery>;
  ownership: Ownership;
  webhooks: WebhookCache;
  recorder: Recorder;
  sendOptions: SendOptions;
  /** Attempts were started: memory may need more. */
  onStarted(): void;
  onInactive(webhook: WebhookSettings): void;
};

// Results that wait for their record are sent again after a crash.
const MAX_UNRECORDED = 8_192;
// Between them, answers are read.
const STARTS_PER_TURN = 50;
// A delivery that waited longer in memory may have been erased, by a process whose notification was lost.
const MAX_WAIT_IN_MEMORY_MS = 5_000;
const READ_AGAIN_MS = 1_000;
const BODIES_PER_READ = 64;
const MIN_POSTPONE_MS = 60_000;
const MAX_POSTPONE_MS = 3_600_000;
// The ids of erased events in memory: more than are erased while an attempt opens its connection.
const MAX_ERASED = 10_000;
// One error line is logged for each of this many webhooks; more lines add nothing.
const MAX_UNREADABLE = 1_000;

/** @property body  null when it must be read before the attempt */
type Started = { delivery: WaitingDelivery; body: Buffer | null; epoch: number };

/** Starts what the scheduler chooses, and passes the results to the recorder. */
export class Attempts {
  readonly #deps: AttemptsDeps;
  readonly #unreadableWebhooks = new Set<string>();
  /** The ids of the events that were erased last, for attempts that are still opening their connection. */
  readonly #erased = new Set<string>();
  readonly #stopping = new AbortController();
  #incomplete: Started[] = [];
  readonly #large = new LargeBodies<Started>();
  #completing: Promise<void> | null = null;
  #timer: { atMs: number; cancel: AbortController } | null = null;
  #isStartingSoon = false;
  #waitsForRecorder = false;
  #isCutOff = false;
  #running = 0;
  #hasEnded = Promise.withResolvers<void>();

  constructor(deps: AttemptsDeps) {
    this.#deps = deps;
  }

  /** Starts all that may start now. Call it when something became due, was read, or ended. */
  start(): void {
    const { scheduler, databaseClock, onStarted } = this.#deps;
    for (let starts = 0; this.#mayStart(); starts++) {
      if (starts === STARTS_PER_TURN) {
        this.#startSoon();
        break;
      }
      const delivery = scheduler.next(databaseClock.nowMs());
      if (!delivery) break;
      this.#begin(delivery);
    }
    onStarted();
    this.#setTimer();
  }

  /** Takes the end of an attempt from the recorder. */
  ended({ deliveryId: id, shard, webhookId, attempt, nextAttemptId }: FinishedAttempt, end: AttemptEnd): void {
    const isRetried = end.kind === 'recorded' && end.nextAtMs !== null && nextAttemptId !== null;
    const retry = isRetried ? { attempt: attempt + 1, attemptId: nextAttemptId, nextAtMs: end.nextAtMs! } : null;
    this.#settle({ id, shard }, retry);
    if (end.kind === 'refused') void this.#readAgain({ id: webhookId, shard });
    if (this.#waitsForRecorder) this.start();
  }

  /** To be called when an event was erased: its attempts that are still opening a connection send nothing. */
  eraseEvent(id: string): void {
    if (this.#running === 0) return;
    this.#erased.add(id);
    const [oldest] = this.#erased;
    if (this.#erased.size > MAX_ERASED) this.#erased.delete(oldest!);
  }

  /**
   * After a refused record: the row may wait under another attempt id, or still under this one if the shard was lost and taken
   * again. If the shard was lost to another process, sending it again from here would be refused again.
   */
  async #readAgain(webhook: { id: string; shard: number }): Promise<void> {
    const { ownership, scheduler, onStarted } = this.#deps;
    await ownership.renewed();
    scheduler.spill(webhook);
    onStarted();
  }

  /** To be called when shards are given up: attempts that wait for their bodies are not made. */
  dropShards(shards: number[]): void {
    for (const { delivery } of this.#large.remove(({ shard }) => shards.includes(shard))) this.#settle(delivery, null);
  }

  /** Starts nothing from now on. Waits for the attempts in flight, at most `waitMs`, and ends the others. */
  async stop(waitMs: number): Promise<void> {
    this.#stopping.abort();
    this.#timer?.cancel.abort();
    for (const { delivery } of this.#large.remove(() => true)) this.#settle(delivery, null);
    await this.#completing;
    const ended = new AbortController();
    if (this.#running === 0) this.#hasEnded.resolve();
    await Promise.race([this.#hasEnded.promise, this.#deps.clock.sleep(waitMs, ended.signal)]);
    ended.abort();
    this.#isCutOff = true;
    this.#deps.sendOptions.poster.close();
    await this.#hasEnded.promise;
  }

  #mayStart(): boolean {
    const { ownership, recorder } = this.#deps;
    this.#waitsForRecorder = recorder.isStalled || recorder.size >= MAX_UNRECORDED;
    return !this.#waitsForRecorder && !this.#stopping.signal.aborted && ownership.isTrusted();
  }

  /** Once for all attempts that end in this turn of the event loop. */
  #startSoon(): void {
    if (this.#isStartingSoon) return;
    this.#isStartingSoon = true;
    setImmediate(() => {
      this.#isStartingSoon = false;
      this.start();
    });
  }

  /** While nothing may start, what is due would end each timer at once: `start` is called when something may start again. */
  #setTimer(): void {
    const { scheduler, databaseClock, clock } = this.#deps;
    const atMs = this.#mayStart() ? scheduler.nextDueAtMs() : null;
    if (atMs === null || (this.#timer && this.#timer.atMs <= atMs)) return;
    this.#timer?.cancel.abort(null);
    const timer = { atMs, cancel: new AbortController() };
    this.#timer = timer;
    void clock.sleep(Math.max(1, Math.ceil(atMs - databaseClock.nowMs())), timer.cancel.signal).then(() => {
      if (this.#timer !== timer) return;
      this.#timer = null;
      this.start();
    });
  }

  #begin(delivery: WaitingDelivery): void {
    const { ownership, webhooks, databaseClock } = this.#deps;
    const { shard, webhookId, readAtMs } = delivery;
    const epoch = ownership.epochOf(shard)!;
    const webhook = webhooks.fresh(webhookId);
    const body = databaseClock.nowMs() - readAtMs <= MAX_WAIT_IN_MEMORY_MS ? delivery.body : null;
    if (webhook && maySend(webhook) && body) {
      void this.#send(readyOf(delivery, { epoch, body }, webhook));
      return;
    }
    const started = { delivery, body, epoch };
    if (isLarge(delivery)) this.#large.add(started);
    else this.#incomplete.push(started);
    this.#complete();
  }

  #complete(): void {
    this.#completing ??= this.#completeAll().finally(() => {
      this.#completing = null;
    });
  }

  /** Reads what started attempts lack: bodies, and settings that may have changed. */
  async #completeAll(): Promise<void> {
    // The others of this turn are added before this resolves.
    await undefined;
    for (;;) {
      const batch = [...this.#incomplete.splice(0, BODIES_PER_READ), ...this.#large.take()];
      if (batch.length === 0) return;
      const bodies = await this.#readMissing(batch);
      for (const started of batch) this.#sendIfWaiting(started, bodies);
    }
  }

  /** The body of an attempt is not in memory any more. */
  #release(delivery: Pick<WaitingDelivery, 'shard' | 'accountId' | 'bodyBytes'>): void {
    if (!isLarge(delivery)) return;
    this.#large.ended(delivery);
    this.#complete();
  }

  /** Null when the database is away. */
  async #readMissing(batch: Started[]): Promise<Map<string, Buffer> | null> {
    const { db, webhooks } = this.#deps;
    const stale = batch.filter(({ delivery }) => !webhooks.fresh(delivery.webhookId));
    const withoutBody = batch.flatMap(({ delivery, body }) => (body ? [] : delivery));
    try {
      const [bodies] = await Promise.all([
        withoutBody.length > 0 ? readBodies(db, withoutBody) : new Map<string, Buffer>(),
        webhooks.refresh(stale.map(({ delivery }) => ({ id: delivery.webhookId, shard: delivery.shard }))),
      ]);
      return bodies;
    } catch (error) {
      this.#logFailure('reading bodies of deliveries', error);
      return null;
    }
  }

  #sendIfWaiting({ delivery, body: known, epoch }: Started, bodies: Map<string, Buffer> | null): void {
    const { ownership, webhooks, databaseClock, onInactive } = this.#deps;
    const body = known ?? bodies?.get(delivery.id);
    const webhook = webhooks.get(delivery.webhookId);
    const isOwned = ownership.isTrusted() && ownership.epochOf(delivery.shard) === epoch;
    const mustWait = this.#stopping.signal.aborted || webhook?.isSuspended;
    if (bodies && isOwned && !mustWait && body && webhook?.isActive) {
      void this.#send(readyOf(delivery, { epoch, body }, webhook));
      return;
    }
    const isReadAgain = !bodies || (isOwned && mustWait);
    this.#settle(delivery, isReadAgain ? { ...delivery, nextAtMs: databaseClock.nowMs() + READ_AGAIN_MS } : null);
    this.#release(delivery);
    if (webhook && !webhook.isActive) onInactive(webhook);
  }

  /** Never rejects. */
  async #send(delivery: ReadyDelivery): Promise<void> {
    const { scheduler, recorder, databaseClock, log, sendOptions, webhooks, onInactive } = this.#deps;
    // While a connection is opened, the webhook may be disabled or deleted, its account suspended, and the event erased.
    const isInactive = () => webhooks.get(delivery.webhookId)?.isActive === false;
    const isSuspended = () => webhooks.get(delivery.webhookId)?.isSuspended === true;
    const isErased = () => this.#erased.has(delivery.eventId);
    this.#running += 1;
    try {
      const result = await sendAttempt(delivery, sendOptions, () => isInactive() || isSuspended() || isErased());
      scheduler.answered(delivery.id);
      // The receiver did not cause the failure of an attempt that this process cut off.
      if (result && (result.succeeded || !this.#isCutOff)) recorder.add(result);
      else this.#settle(delivery, isErased() ? null : { ...delivery, nextAtMs: databaseClock.nowMs() });
      if (!result && isInactive()) onInactive(webhooks.get(delivery.webhookId)!);
    } catch (error) {
      if (error instanceof UnreadableSecret) await this.#postpone(delivery, error);
      else {
        // A bug. The search of all webhooks finds the delivery again.
        const { attemptId, webhookId } = delivery;
        log.error({ err: error, attempt_id: attemptId, webhook_id: webhookId }, 'attempt not made');
        this.#settle(delivery, null);
      }
    }
    this.#release(delivery);
    this.#running -= 1;
    if (this.#running === 0 && this.#stopping.signal.aborted) this.#hasEnded.resolve();
    this.#startSoon();
  }

  /** Until somebody restores the key, or replaces the secret or the headers: retried after a minute, then less and less often. */
  async #postpone(delivery: ReadyDelivery, error: UnreadableSecret): Promise<void> {
    const { db, clock, log } = this.#deps;
    const { webhookId, id } = delivery;
    const delayMs = Math.min(Math.max(clock.now() - timeOfId(id), MIN_POSTPONE_MS), MAX_POSTPONE_MS);
    await postponeDelivery(db, delivery, delayMs).catch((cause) => this.#logFailure('postponing a delivery', cause));
    this.#settle(delivery, null);
    if (this.#unreadableWebhooks.has(webhookId) || this.#unreadableWebhooks.size >= MAX_UNREADABLE) return;
    this.#unreadableWebhooks.add(webhookId);
    log.error(
      { err: error, webhook_id: webhookId },
      'the secret of a webhook cannot be opened, or its headers cannot, and its deliveries wait: restore SECRETS_KEY, or rotate the secret and set the headers again',
    );
  }

  #settle({ id, shard }: { id: string; shard: number }, retry: Parameters<Scheduler['settled']>[1]): void {
    const { scheduler, databaseClock, ownership } = this.#deps;
    const next = retry && { attempt: retry.attempt, attemptId: retry.attemptId, nextAtMs: retry.nextAtMs };
    scheduler.settled(id, next, databaseClock.nowMs());
    ownership.recorded(shard);
    if (next) this.#setTimer();
  }

  #logFailure(activity: string, error: unknown): void {
    const { log } = this.#deps;
    if (isDatabaseAway(error)) log.warn({ err: error }, `${activity} failed: the database is unavailable`);
    else log.error({ err: error }, `${activity} failed`);
  }
}

function readyOf(
  delivery: WaitingDelivery,
  { epoch, body }: { epoch: number; body: Buffer },
  webhook: WebhookSettings,
): ReadyDelivery {
  const { shard, id, accountId, webhookId, eventId, eventType, attempt, attemptId, bodyBytes } = delivery;
  const { url, secret, previousSecret, previousSecretEndsAt, headers, isHealthy } = webhook;
  return {
    ...{ shard, epoch, id, accountId, webhookId, eventId, eventType, attempt, attemptId, body, bodyBytes },
    ...{ url, secret, previousSecret, previousSecretEndsAt, headers, isDegraded: !isHealthy },
  };
}

/** Whether the body is read just before it is sent, within its account's share of the memory. */
function isLarge({ bodyBytes }: Pick<WaitingDelivery, 'bodyBytes'>): boolean {
  return bodyBytes > MAX_WAITING_BODY_BYTES;
}
