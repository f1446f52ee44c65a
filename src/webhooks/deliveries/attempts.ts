import { logFailure } from '../../db/database.ts';
import { NameServersAwayError } from '../../egress/transport-error.ts';
import { waitAtMost } from '../../platform/clock.ts';
import { timeOfId } from '../../rules/ids.ts';
import type { WebhookSettings } from '../scheduler/webhook-settings.ts';
import { UnreadableSecret } from '../secrets/signers.ts';
import type { DelivererParts } from './deliverer-parts.ts';
import { postponeDelivery, type WaitingDelivery } from './due-store.ts';
import { MissingParts } from './missing-parts.ts';
import type { FinishedAttempt } from './recording/finished-attempt.ts';
import type { NextAttempt } from './recording/follow-attempts.ts';
import type { Recorder } from './recording/recorder.ts';
import { type Attempt, type SendOptions, sendAttempt } from './send.ts';

type AttemptsParts = DelivererParts & { recorder: Recorder; sendOptions: SendOptions };

// Results that wait for their record are sent again after a crash.
const MAX_UNRECORDED = 8_192;
// Between them, answers are read.
const STARTS_PER_TURN = 50;
// A delivery that waited longer in memory may have been erased, by a process whose notification was lost.
const MAX_WAIT_IN_MEMORY_MS = 5_000;
const READ_AGAIN_MS = 1_000;
// While no name can be resolved, each delivery is tried so often.
const NAME_SERVERS_AGAIN_MS = 2_000;
const LOG_NAME_SERVERS_EVERY_MS = 60_000;
const MIN_POSTPONE_MS = 60_000;
const MAX_POSTPONE_MS = 3_600_000;
// The ids of erased events in memory: more than are erased while an attempt opens its connection.
const MAX_ERASED = 10_000;
// One error line is logged for each of this many webhooks; more lines add nothing.
const MAX_UNREADABLE = 1_000;

/** Starts what the scheduler chooses, sends it, and has the results recorded. */
export class Attempts {
  readonly #parts: AttemptsParts;
  readonly #missing: MissingParts;
  readonly #unreadableWebhooks = new Set<string>();
  /** The ids of the events that were erased last, for attempts that are still opening their connection. */
  readonly #erased = new Set<string>();
  #nameServersLoggedAtMs = Number.NEGATIVE_INFINITY;
  #isStopping = false;
  #isCutOff = false;
  #inFlight = 0;
  #hasEnded = Promise.withResolvers<void>();

  constructor(parts: AttemptsParts) {
    this.#parts = parts;
    this.#missing = new MissingParts(parts);
  }

  /**
   * Starts at most 50 of those that may start now.
   * Returns after how many ms others may start; Infinity: at the next wake.
   */
  start(): number {
    const { scheduler, databaseClock } = this.#parts;
    if (!this.#mayStart()) return Number.POSITIVE_INFINITY;
    for (let starts = 0; starts < STARTS_PER_TURN; starts++) {
      const delivery = scheduler.next(databaseClock.nowMs());
      if (!delivery) return (scheduler.nextDueAtMs() ?? Number.POSITIVE_INFINITY) - databaseClock.nowMs();
      this.#begin(delivery);
    }
    return 0;
  }

  /** To be called when an event was erased: its attempts that are still opening a connection send nothing. */
  eraseEvent(id: string): void {
    if (this.#inFlight === 0) return;
    this.#erased.add(id);
    const [oldest] = this.#erased;
    if (this.#erased.size > MAX_ERASED) this.#erased.delete(oldest!);
  }

  /** To be called when shards are given up: attempts that wait for their bodies are not made. */
  dropShards(shards: number[]): void {
    this.#missing.cancel(({ shard }) => shards.includes(shard));
  }

  /** Starts nothing from now on. Waits for the attempts in flight, at most `waitMs`, and ends the others. */
  async stop(waitMs: number): Promise<void> {
    this.#isStopping = true;
    this.#missing.cancel(() => true);
    await this.#missing.finish();
    if (this.#inFlight === 0) this.#hasEnded.resolve();
    await waitAtMost(this.#parts.clock, this.#hasEnded.promise, waitMs);
    this.#isCutOff = true;
    this.#parts.sendOptions.poster.close();
    await this.#hasEnded.promise;
  }

  #mayStart(): boolean {
    const { ownership, recorder } = this.#parts;
    return !this.#isStopping && !recorder.isAway && recorder.size < MAX_UNRECORDED && ownership.isTrusted();
  }

  #begin(delivery: WaitingDelivery): void {
    const { ownership, webhooks, databaseClock } = this.#parts;
    const epoch = ownership.epochOf(delivery.shard)!;
    const webhook = webhooks.fresh(delivery.webhookId);
    const isOld = databaseClock.nowMs() - delivery.readAtMs > MAX_WAIT_IN_MEMORY_MS;
    const body = isOld ? null : delivery.body;
    if (webhook?.state === 'active' && body) void this.#make({ delivery, epoch, webhook, body });
    else void this.#complete(delivery, { epoch, body });
  }

  /** Reads what the attempt lacks, and makes it if the delivery still waits and may be sent. */
  async #complete(delivery: WaitingDelivery, known: { epoch: number; body: Buffer | null }): Promise<void> {
    const { ownership, webhooks, drops } = this.#parts;
    const { epoch } = known;
    const read = await this.#missing.read(delivery, known.body);
    const webhook = webhooks.get(delivery.webhookId);
    const isOwned = ownership.isTrusted() && ownership.epochOf(delivery.shard) === epoch;
    const mustWait = this.#isStopping || webhook?.state === 'suspended';
    if (read.kind === 'complete' && isOwned && !mustWait && webhook?.state === 'active')
      return await this.#make({ delivery, epoch, webhook, body: read.body });
    if (read.kind === 'failed' || (isOwned && mustWait)) this.#startAgain(delivery, READ_AGAIN_MS);
    else this.#settle(delivery, null);
    if (read.kind === 'complete') this.#missing.release(delivery);
    drops.dropIfInactive(webhook);
  }

  async #make(attempt: Attempt): Promise<void> {
    const { scheduler, wake, databaseClock } = this.#parts;
    this.#inFlight += 1;
    const result = await this.#send(attempt);
    scheduler.answered(attempt.delivery.id, databaseClock.nowMs());
    this.#missing.release(attempt.delivery);
    this.#inFlight -= 1;
    if (this.#inFlight === 0 && this.#isStopping) this.#hasEnded.resolve();
    wake();
    // Apart, so that the body does not stay in memory until the result is recorded.
    if (result) void this.#record(result);
  }

  /** Null when nothing is to be recorded: then the delivery is settled. Never rejects. */
  async #send(attempt: Attempt): Promise<FinishedAttempt | null> {
    const { databaseClock, sendOptions, webhooks, drops, scheduler, wake, ownership } = this.#parts;
    const { delivery } = attempt;
    const webhook = () => webhooks.get(delivery.webhookId) ?? attempt.webhook;
    const isChanged = () => webhook().state !== 'active' || !isSameReceiver(webhook(), attempt.webhook);
    const isErased = () => this.#erased.has(delivery.eventId);
    const isOwned = () => ownership.isTrusted() && ownership.epochOf(delivery.shard) === attempt.epoch;
    try {
      // While a connection is opened, the webhook may be disabled, deleted or changed, its account suspended, the event
      // erased, and the shard lost to a process that sends at the same limit per second.
      const result = await sendAttempt(attempt, sendOptions, {
        isWithdrawn: () => isChanged() || isErased() || !isOwned(),
        confirm: () => (webhooks.fresh(delivery.webhookId) ? null : this.#readSettings(delivery)),
        onSend: () => {
          scheduler.sent(delivery.id, databaseClock.nowMs());
          // It is known now when the next one of a webhook with a limit per second may start.
          if (webhook().maxPerSecond !== null) wake();
        },
        mayRepeat: () => scheduler.mayRepeat(delivery.id, databaseClock.nowMs()),
      });
      // The receiver did not cause the failure of an attempt that this process cut off.
      if (result && (result.succeeded || !this.#isCutOff)) return result;
      if (isErased()) this.#settle(delivery, null);
      else this.#startAgain(delivery, webhooks.fresh(delivery.webhookId) ? 0 : READ_AGAIN_MS);
      drops.dropIfInactive(webhook());
    } catch (error) {
      await this.#giveUp(attempt, error);
    }
    return null;
  }

  /**
   * Reads the webhook of an attempt that has opened its connection for so long that the webhook may have been disabled,
   * by a process whose notification was lost. Whether its settings are known now.
   */
  async #readSettings({ webhookId, shard }: WaitingDelivery): Promise<boolean> {
    const { webhooks, log } = this.#parts;
    try {
      await webhooks.refresh([{ id: webhookId, shard }]);
    } catch (error) {
      logFailure(log, error, 'reading a webhook');
    }
    return webhooks.fresh(webhookId) !== null;
  }

  async #giveUp({ delivery }: Attempt, error: unknown): Promise<void> {
    const { attemptId, webhookId } = delivery;
    if (error instanceof NameServersAwayError) return this.#waitForNameServers(delivery, error);
    if (error instanceof UnreadableSecret) await this.#postpone(delivery, error);
    // A bug. The search of all webhooks finds the delivery again.
    else this.#parts.log.error({ err: error, attempt_id: attemptId, webhook_id: webhookId }, 'attempt not made');
    this.#settle(delivery, null);
  }

  /** The same attempt is made later, under the same ids: it does not count, and the delivery log does not show it. */
  #waitForNameServers(delivery: WaitingDelivery, error: NameServersAwayError): void {
    const { databaseClock, log, metrics, drops, webhooks } = this.#parts;
    const nowMs = databaseClock.nowMs();
    metrics?.attemptsWithoutNameServers.inc();
    this.#startAgain(delivery, NAME_SERVERS_AGAIN_MS);
    drops.dropIfInactive(webhooks.get(delivery.webhookId));
    if (nowMs - this.#nameServersLoggedAtMs < LOG_NAME_SERVERS_EVERY_MS) return;
    this.#nameServersLoggedAtMs = nowMs;
    log.error({ err: error }, 'deliveries wait: the name servers of this machine do not answer, see /etc/resolv.conf');
  }

  /**
   * Until somebody restores the key, or replaces the secret or the headers:
   * retried after a minute, then less and less often.
   */
  async #postpone(delivery: WaitingDelivery, error: UnreadableSecret): Promise<void> {
    const { db, clock, log } = this.#parts;
    const { webhookId, id } = delivery;
    const delayMs = Math.min(Math.max(clock.now() - timeOfId(id), MIN_POSTPONE_MS), MAX_POSTPONE_MS);
    await postponeDelivery(db, delivery, delayMs).catch((cause) => logFailure(log, cause, 'postponing a delivery'));
    if (this.#unreadableWebhooks.has(webhookId) || this.#unreadableWebhooks.size >= MAX_UNREADABLE) return;
    this.#unreadableWebhooks.add(webhookId);
    log.error(
      { err: error, webhook_id: webhookId },
      'the secret of a webhook cannot be opened, or its headers cannot, and its deliveries wait: restore SECRETS_KEY, or rotate the secret and set the headers again',
    );
  }

  async #record(result: FinishedAttempt): Promise<void> {
    const { deliveryId: id, shard, webhookId } = result;
    const end = await this.#parts.recorder.record(result);
    this.#settle({ id, shard }, end.kind === 'recorded' ? end.next : null);
    if (end.kind === 'refused') await this.#readAgain({ id: webhookId, shard });
  }

  /**
   * After a refused record: the row may wait under another attempt id, or still under this one if the shard was lost
   * and taken again. If the shard was lost to another process, sending it again from here would be refused again.
   */
  async #readAgain(webhook: { id: string; shard: number }): Promise<void> {
    const { ownership, scheduler, wake } = this.#parts;
    await ownership.renewed();
    scheduler.spill(webhook);
    wake();
  }

  /** @param next  of the row, as it is recorded; null: it is gone, or is read again */
  #settle({ id, shard }: { id: string; shard: number }, next: NextAttempt | null): void {
    const { scheduler, databaseClock, ownership, wake } = this.#parts;
    const retry = next && { attempt: next.attempt, attemptId: next.attemptId, nextAtMs: next.nextAtMs };
    scheduler.settled(id, retry, databaseClock.nowMs());
    ownership.recorded(shard);
    wake();
  }

  /** Nothing was sent and nothing is recorded: the same attempt starts later. */
  #startAgain({ id, shard }: WaitingDelivery, delayMs: number): void {
    const { scheduler, databaseClock, ownership, wake } = this.#parts;
    const nowMs = databaseClock.nowMs();
    scheduler.postponed(id, nowMs + delayMs, nowMs);
    ownership.recorded(shard);
    wake();
  }
}

/** Whether a request that was made for the one is for the other too. */
function isSameReceiver(now: WebhookSettings, before: WebhookSettings): boolean {
  return now.url === before.url && now.secret.equals(before.secret);
}
