import { logFailure } from '../../db/database.ts';
import type { Lookup } from '../../egress/dns/lookup.ts';
import type { AskNameServers } from '../../egress/dns/resolve.ts';
import { makeId, waitAtMost } from '../../platform/clock.ts';
import { WakeSignal } from '../../platform/wake-signal.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { openPoster } from '../http-client/post.ts';
import { DatabaseClock } from '../ownership/database-clock.ts';
import { Ownership } from '../ownership/ownership.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { openHeaderReader } from '../secrets/own-headers.ts';
import type { SecretsRuntime } from '../secrets/secrets.ts';
import { openSigners } from '../secrets/signers.ts';
import { Attempts } from './attempts.ts';
import type { DelivererMetrics, DelivererParts } from './deliverer-parts.ts';
import { Drops } from './drops.ts';
import type { WaitingDelivery } from './due-store.ts';
import { Reader } from './reader.ts';
import type { StreakChange } from './recording/follow-attempts.ts';
import { Recorder, type RecorderRuntime } from './recording/recorder.ts';
import { type SendOptions, serviceHeaderNames } from './send.ts';
import { WebhookCache } from './webhook-cache.ts';

/** What a deliverer runs on. */
export type DelivererRuntime = SecretsRuntime &
  RecorderRuntime & {
    metrics?: DelivererMetrics;
    /** Certificates to trust instead of Node's own and NODE_EXTRA_CA_CERTS. */
    ca?: string;
    lookup?: Lookup;
    /** Whether the name servers of this machine answer; default: a question to them. */
    askNameServers?: AskNameServers;
    /** Time in ms that does not jump; default: performance.now. */
    monotonicMs?: () => number;
    /** Name of this process, by which its parent sets its shards free when it has ended. */
    holder?: string | null;
  };

// What ends a pause of the attempts, such as a heartbeat after an outage, causes no turn by itself.
const MAX_TURN_INTERVAL_MS = 1_000;

/**
 * Sends due deliveries of the shards that this process owns. They are read into memory, where the scheduler chooses the
 * next one; results are recorded in batches. After a crash the next owner of the shard makes the attempts in flight
 * again.
 */
export async function startDeliverer(runtime: DelivererRuntime): Promise<Deliverer> {
  const deliverer = new Deliverer(runtime);
  await deliverer.start();
  return deliverer;
}

class Deliverer {
  readonly #runtime: DelivererRuntime;
  readonly #scheduler = new Scheduler<WaitingDelivery>();
  readonly #databaseClock: DatabaseClock;
  readonly #ownership: Ownership;
  readonly #webhooks: WebhookCache;
  readonly #drops: Drops;
  readonly #reader: Reader;
  readonly #recorder: Recorder;
  readonly #attempts: Attempts;
  readonly #wake = new WakeSignal();
  #isStopping = false;
  #turns: Promise<void> | null = null;
  #unlisten: (() => Promise<void>)[] = [];

  constructor(runtime: DelivererRuntime) {
    this.#runtime = runtime;
    const { db } = runtime;
    const monotonicMs = runtime.monotonicMs ?? (() => performance.now());
    const scheduler = this.#scheduler;
    const wake = () => this.#wake.send();
    const databaseClock = new DatabaseClock(monotonicMs);
    this.#databaseClock = databaseClock;
    this.#webhooks = new WebhookCache(db, scheduler, monotonicMs);
    const ownership = new Ownership({
      ...runtime,
      monotonicMs,
      holder: runtime.holder ?? makeId('req'),
      unrecorded: (shard) => scheduler.unsettledOf(shard),
      onTaken: (shards) => this.#takeShards(shards),
      onClosed: (shards) => this.#closeShards(shards),
      onTime: (nowMs) => databaseClock.adjust(nowMs),
    });
    this.#ownership = ownership;
    this.#drops = new Drops({ ...runtime, scheduler, ownership });
    this.#recorder = new Recorder(runtime, {
      streak: (streak) => this.#applyStreak(streak),
      stall: (shard, isStalled) => scheduler.hold(shard, isStalled),
    });
    const parts: DelivererParts = {
      ...runtime,
      monotonicMs,
      databaseClock,
      scheduler,
      ownership,
      webhooks: this.#webhooks,
      drops: this.#drops,
      wake,
    };
    this.#reader = new Reader(parts);
    this.#attempts = new Attempts({ ...parts, recorder: this.#recorder, sendOptions: sendOptionsOf(runtime) });
  }

  async start(): Promise<void> {
    const { db } = this.#runtime;
    this.#unlisten = await Promise.all([
      db.listen('deliveries_due', (shard) => this.#reader.notify(shard)),
      db.listen('webhook_changed', (id) => this.#refresh(id)),
      db.listen('event_erased', (id) => {
        this.#scheduler.dropEvents([id]);
        this.#attempts.eraseEvent(id);
      }),
    ]);
    await this.#recorder.warmUp();
    this.#turns = this.#takeTurns();
    await this.#ownership.start();
  }

  /** Ends within 10 s: attempts in progress finish, or are left to the next owner of their shards. */
  async stop(): Promise<void> {
    this.#ownership.close();
    await Promise.all(this.#unlisten.map((unlisten) => unlisten()));
    await Promise.all([this.#attempts.stop(BOUNDS.workStopMs), this.#reader.stop()]);
    await this.#recorder.finish();
    await this.#drops.finish();
    await this.#ownership.leave();
    this.#isStopping = true;
    this.#wake.send();
    await this.#turns;
  }

  /** A turn after each wake, and when something is due. */
  async #takeTurns(): Promise<void> {
    while (!this.#isStopping) {
      const woken = this.#wake.next();
      const restMs = this.#takeTurn();
      if (restMs > 0) await waitAtMost(this.#runtime.clock, woken, Math.min(Math.ceil(restMs), MAX_TURN_INTERVAL_MS));
      // All that arrives in this round of the event loop wakes one turn.
      await new Promise(setImmediate);
    }
  }

  /**
   * Reads, starts, refills: each begins what it can and waits for nothing.
   * Returns after how many ms the next turn is due.
   */
  #takeTurn(): number {
    const readInMs = this.#reader.read();
    const startInMs = this.#attempts.start();
    this.#reader.refill();
    return Math.min(readInMs, startInMs);
  }

  #takeShards(shards: number[]): void {
    for (const shard of shards) this.#scheduler.addShard(shard, this.#databaseClock.nowMs());
    this.#reader.taken(shards);
  }

  #closeShards(shards: number[]): void {
    for (const shard of shards) this.#scheduler.dropShard(shard);
    this.#attempts.dropShards(shards);
  }

  #applyStreak({ webhookId, consecutiveFailures, verdict }: StreakChange): void {
    const isHealthy = consecutiveFailures === 0;
    this.#webhooks.change(webhookId, verdict === 'disable' ? { isHealthy, state: 'inactive' } : { isHealthy });
    this.#drops.dropIfInactive(this.#webhooks.get(webhookId));
  }

  /** Reads a webhook again that the API has changed. */
  async #refresh(id: string): Promise<void> {
    const known = this.#webhooks.get(id);
    if (!known) return;
    try {
      await this.#webhooks.refresh([known]);
    } catch (error) {
      return logFailure(this.#runtime.log, error, 'reading a webhook');
    }
    this.#drops.dropIfInactive(this.#webhooks.get(id));
    this.#wake.send();
  }
}

function sendOptionsOf({
  config,
  clock,
  ca,
  lookup,
  askNameServers,
  secretBox,
  tracer,
}: DelivererRuntime): SendOptions {
  const timeoutMs = config.webhookTimeoutMs;
  return {
    poster: openPoster({
      timeoutMs,
      maxWaitMs: timeoutMs,
      allowedTargets: config.webhookAllowedTargets,
      ca,
      lookup,
      askNameServers,
      proxyUrl: config.webhookProxyUrl,
    }),
    signers: openSigners(secretBox),
    headerReader: openHeaderReader(secretBox),
    clock,
    tracer,
    headerNames: serviceHeaderNames(config.webhookHeaderPrefix),
  };
}
