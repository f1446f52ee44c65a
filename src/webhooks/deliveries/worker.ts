import type { Config } from '../../config/settings.ts';
import type { Database } from '../../db/database.ts';
import { isDatabaseAway } from '../../db/database.ts';
import type { Lookup } from '../../egress/dns/lookup.ts';
import type { Clock } from '../../platform/clock.ts';
import { makeId } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { openPoster } from '../http-client/post.ts';
import { DatabaseClock } from '../ownership/database-clock.ts';
import { Ownership } from '../ownership/ownership.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { openHeaderReader } from '../secrets/own-headers.ts';
import type { SecretBox } from '../secrets/secrets.ts';
import { openSigners } from '../secrets/signers.ts';
import { Attempts } from './attempts.ts';
import { dropWaiting } from './drop-store.ts';
import type { WaitingDelivery, WebhookSettings } from './due-store.ts';
import { Reader } from './reader.ts';
import type { RecorderDeps } from './recording/recorder.ts';
import { Recorder } from './recording/recorder.ts';
import type { StreakChange } from './recording/streaks.ts';
import type { SendOptions } from './send.ts';
import { WebhookCache } from './webhook-cache.ts';

export type DelivererDeps = {
  db: Database;
  config: Pick<
    Config,
    | 'webhookRetryDelaysMs'
    | 'webhookTimeoutMs'
    | 'webhookDisableFailures'
    | 'webhookDisableMs'
    | 'webhookAllowedTargets'
    | 'webhookHeaderPrefix'
  > &
    Partial<Pick<Config, 'webhookProxyUrl'>>;
  secretBox: SecretBox;
  log: Log;
  clock: Clock;
  metrics?: RecorderDeps['metrics'] & Pick<Metrics, 'deliveriesFoundLate'>;
  /** Certificates to trust instead of Node's own and NODE_EXTRA_CA_CERTS. */
  ca?: string;
  lookup?: Lookup;
  /** The current time for SQL statements; default: the database's clock. */
  sqlNow?: () => Date;
  /** Time in ms that does not jump; default: performance.now. */
  monotonicMs?: () => number;
  random?: () => number;
  /** Name of this process, by which its parent sets its shards free when it has ended. */
  holder?: string | null;
};

const DROP_AGAIN_MS = 1_000;

/**
 * Sends due deliveries of the shards that this process owns. They are read into memory, where the scheduler chooses the
 * next one; results are recorded in batches. After a crash the next owner of the shard makes the attempts in flight again.
 */
export async function startDeliverer(deps: DelivererDeps): Promise<Deliverer> {
  const deliverer = new Deliverer(deps);
  await deliverer.start();
  return deliverer;
}

class Deliverer {
  readonly #deps: DelivererDeps;
  readonly #scheduler = new Scheduler<WaitingDelivery>();
  readonly #ownership: Ownership;
  readonly #webhooks: WebhookCache;
  readonly #reader: Reader;
  readonly #recorder: Recorder;
  readonly #attempts: Attempts;
  /** Webhooks whose waiting deliveries are being dropped. */
  readonly #dropping = new Map<string, Promise<void>>();
  #unlisten: (() => Promise<void>)[] = [];

  constructor(deps: DelivererDeps) {
    this.#deps = deps;
    const { db, clock, log, metrics, config } = deps;
    const monotonicMs = deps.monotonicMs ?? (() => performance.now());
    const databaseClock = new DatabaseClock(monotonicMs);
    const scheduler = this.#scheduler;
    this.#webhooks = new WebhookCache(db, scheduler, monotonicMs);
    this.#ownership = new Ownership({
      ...{ db, clock, log, monotonicMs, holder: deps.holder ?? makeId('req') },
      unrecorded: (shard) => scheduler.unsettledOf(shard),
      onTaken: (shards) => this.#takeShards(shards, databaseClock.nowMs()),
      onClosed: (shards) => {
        for (const shard of shards) scheduler.dropShard(shard);
        this.#attempts.dropShards(shards);
      },
      onTime: (nowMs) => databaseClock.adjust(nowMs),
    });
    this.#recorder = new Recorder({
      ...{ db, config, log, clock, metrics },
      now: () => deps.sqlNow?.() ?? null,
      onEnd: (attempt, end) => this.#attempts.ended(attempt, end),
      onStreak: (streak) => this.#applyStreak(streak),
    });
    const parts = { db, clock, log, databaseClock, scheduler, ownership: this.#ownership, webhooks: this.#webhooks };
    const onInactive = (webhook: WebhookSettings) => this.#drop(webhook);
    this.#attempts = new Attempts({
      ...{ ...parts, recorder: this.#recorder, sendOptions: sendOptionsOf(deps), onInactive },
      onStarted: () => this.#reader.refill(),
    });
    this.#reader = new Reader({ ...parts, metrics, monotonicMs, onInactive, onRead: () => this.#attempts.start() });
  }

  async start(): Promise<void> {
    const { db } = this.#deps;
    this.#unlisten = await Promise.all([
      db.listen('deliveries_due', (shard) => this.#reader.notify(shard)),
      db.listen('webhook_changed', (id) => this.#refresh(id)),
      db.listen('event_erased', (id) => {
        this.#scheduler.dropEvents([id]);
        this.#attempts.eraseEvent(id);
      }),
    ]);
    await this.#recorder.warmUp();
    this.#reader.start();
    await this.#ownership.start();
  }

  /** Ends within 10 s: attempts in progress finish, or are left to the next owner of their shards. */
  async stop(): Promise<void> {
    this.#ownership.close();
    await Promise.all(this.#unlisten.map((unlisten) => unlisten()));
    await Promise.all([this.#attempts.stop(BOUNDS.workStopMs), this.#reader.stop()]);
    await this.#recorder.finish();
    await Promise.all(this.#dropping.values());
    await this.#ownership.leave();
  }

  #takeShards(shards: number[], nowMs: number): void {
    for (const shard of shards) this.#scheduler.addShard(shard, nowMs);
    this.#reader.taken(shards);
  }

  #applyStreak({ webhookId, consecutiveFailures, verdict }: StreakChange): void {
    const disabled = verdict === 'disable';
    this.#webhooks.change(webhookId, { isHealthy: consecutiveFailures === 0, ...(disabled && { isActive: false }) });
    const webhook = this.#webhooks.get(webhookId);
    if (disabled && webhook) this.#drop(webhook);
  }

  /** Reads a webhook again that the API has changed. */
  #refresh(id: string): void {
    const known = this.#webhooks.get(id);
    if (!known) return;
    void this.#webhooks
      .refresh([known])
      .then(() => {
        const webhook = this.#webhooks.get(id)!;
        if (!webhook.isActive) this.#drop(webhook);
        this.#attempts.start();
      })
      .catch(this.#logFailure('reading a webhook'));
  }

  /** Drops what waits for a webhook that is disabled or deleted. */
  #drop(webhook: WebhookSettings): void {
    if (this.#dropping.has(webhook.id)) return;
    const dropping = this.#dropUntilDone(webhook).finally(() => this.#dropping.delete(webhook.id));
    this.#dropping.set(webhook.id, dropping);
  }

  /** Tries again after a failure, while this process owns the shard. */
  async #dropUntilDone({ id: webhookId, shard, url }: WebhookSettings): Promise<void> {
    for (;;) {
      const epoch = this.#ownership.epochOf(shard);
      if (epoch === null) return;
      const allowed = { by: 'owner', epoch, inFlight: this.#scheduler.unsettledOfWebhook(webhookId) } as const;
      try {
        await dropWaiting(this.#deps.db, { shard, webhookId, url, allowed });
        return this.#scheduler.dropWebhook(webhookId);
      } catch (error) {
        this.#logFailure('dropping deliveries')(error);
        await this.#deps.clock.sleep(DROP_AGAIN_MS);
      }
    }
  }

  #logFailure(activity: string): (error: unknown) => void {
    const { log } = this.#deps;
    return (error) => {
      if (isDatabaseAway(error)) log.warn({ err: error }, `${activity} failed: the database is unavailable`);
      else log.error({ err: error }, `${activity} failed`);
    };
  }
}

function sendOptionsOf({ config, clock, ca, lookup, secretBox, random }: DelivererDeps): SendOptions {
  const timeoutMs = config.webhookTimeoutMs;
  return {
    poster: openPoster({
      timeoutMs,
      maxWaitMs: timeoutMs,
      allowedTargets: config.webhookAllowedTargets,
      ca,
      lookup,
      proxyUrl: config.webhookProxyUrl,
    }),
    signers: openSigners(secretBox),
    headerReader: openHeaderReader(secretBox),
    clock,
    headerPrefix: config.webhookHeaderPrefix,
    retryDelaysMs: config.webhookRetryDelaysMs,
    random: random ?? Math.random,
  };
}
