import type { Config } from '../../config/settings.ts';
import type { Database } from '../../db/database.ts';
import { isDatabaseAway } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { timeOfId } from '../../rules/ids.ts';
import type { Lookup } from '../dns/lookup.ts';
import { openPoster } from '../http-client/post.ts';
import type { SecretBox } from '../secrets/secrets.ts';
import { openSigners, UnreadableSecret } from '../secrets/signers.ts';
import type { ClaimedDelivery } from './claim-store.ts';
import { claimDueDeliveries, shardsWithDueDeliveries } from './claim-store.ts';
import { dropUndeliverable } from './drop-store.ts';
import { InFlight } from './in-flight.ts';
import { handBackDeliveries } from './lease-store.ts';
import { ShardQueue } from './per-shard-queue.ts';
import type { RecorderDeps } from './record.ts';
import { Recorder } from './record.ts';
import type { SendOptions } from './send.ts';
import { sendAttempt } from './send.ts';

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
  metrics?: RecorderDeps['metrics'];
  /** Certificates to trust instead of Node's own and NODE_EXTRA_CA_CERTS. */
  ca?: string;
  lookup?: Lookup;
  /** The current time for SQL statements; default: the database's clock. */
  sqlNow?: () => Date;
  random?: () => number;
  /** Duration of a lease; at least three times the timeout of an attempt. */
  leaseMs?: number;
  /** Name of this process, by which its leases are released when it has ended. */
  holder?: string | null;
};

const POLL_MS = 1_000;
// Each uses a database connection.
const CONCURRENT_CLAIMS = 3;
const LOCKED_RETRY_MS = 10;
const STOP_WAIT_MS = 8_000;
const MIN_POSTPONE_MS = 60_000;
const MAX_POSTPONE_MS = 3_600_000;
// One error line is logged for each of this many webhooks; more lines add nothing.
const MAX_UNREADABLE = 1_000;

/**
 * Sends due deliveries. A notification or the poll starts a claim for a shard; claimed deliveries are sent, and their
 * attempts recorded in batches. After a crash the deliveries are due again when their leases end.
 * @throws RangeError  the lease is too short for the timeout
 */
export async function startDeliverer(deps: DelivererDeps): Promise<Deliverer> {
  const deliverer = new Deliverer(deps);
  await deliverer.start();
  return deliverer;
}

class Deliverer {
  readonly #deps: DelivererDeps;
  readonly #leaseMs: number;
  readonly #sendOptions: SendOptions;
  readonly #claims: ShardQueue;
  readonly #recorder: Recorder;
  readonly #inFlight = new InFlight();
  /** Shards that could not be claimed from because a limit was reached. */
  readonly #waitingShards = new Set<number>();
  readonly #unreadableWebhooks = new Set<string>();
  readonly #stopping = new AbortController();
  #isCutOff = false;
  #unlisten: () => Promise<void> = async () => undefined;
  #polling: Promise<void> | null = null;

  constructor(deps: DelivererDeps) {
    const { config, clock, ca, lookup } = deps;
    const timeoutMs = config.webhookTimeoutMs;
    this.#deps = deps;
    // An attempt may wait as long as its timeout, and its record may be retried for as long again.
    this.#leaseMs = deps.leaseMs ?? Math.max(4 * timeoutMs, 10_000);
    if (this.#leaseMs < 3 * timeoutMs) {
      throw new RangeError(`a lease of ${this.#leaseMs} ms is too short for ${timeoutMs} ms`);
    }
    this.#sendOptions = {
      poster: openPoster({
        timeoutMs,
        maxWaitMs: timeoutMs,
        allowedTargets: config.webhookAllowedTargets,
        ca,
        lookup,
        proxyUrl: config.webhookProxyUrl,
      }),
      signers: openSigners(deps.secretBox),
      clock,
      headerPrefix: config.webhookHeaderPrefix,
      retryDelaysMs: config.webhookRetryDelaysMs,
      random: deps.random ?? Math.random,
    };
    this.#claims = new ShardQueue(CONCURRENT_CLAIMS, (shard) =>
      this.#claimShard(shard).catch(this.#logFailure('claiming deliveries')),
    );
    this.#recorder = new Recorder({
      db: deps.db,
      config,
      log: deps.log,
      clock,
      metrics: deps.metrics,
      now: () => this.#now(),
      maxRetryMs: this.#leaseMs,
      onRecorded: (shard, retriesInMs) => this.#onRecorded(shard, retriesInMs),
    });
  }

  async start(): Promise<void> {
    this.#unlisten = await this.#deps.db.listen('deliveries_due', (payload) => {
      const shard = payload === '' ? Number.NaN : Number(payload);
      if (Number.isInteger(shard)) this.#claims.add(shard);
      else void this.#claimDueShards();
    });
    this.#polling = this.#poll();
  }

  /** Ends within 10 s: attempts in progress finish, or their deliveries are handed back. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#unlisten();
    this.#claims.stop();
    await this.#claims.idle();
    const ended = new AbortController();
    await Promise.race([this.#inFlight.ended(), this.#deps.clock.sleep(STOP_WAIT_MS, ended.signal)]);
    ended.abort();
    this.#isCutOff = true;
    this.#sendOptions.poster.close();
    await this.#inFlight.ended();
    await this.#recorder.finish();
    await this.#polling;
  }

  async #poll(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#claimDueShards();
      await this.#deps.clock.sleep(POLL_MS, this.#stopping.signal);
    }
  }

  async #claimDueShards(): Promise<void> {
    const { db } = this.#deps;
    try {
      for (const { shard, inMs } of await shardsWithDueDeliveries(db, { aheadMs: POLL_MS, now: this.#now() })) {
        this.#claimIn(shard, inMs);
        if (inMs === 0) await dropUndeliverable(db, { shard, now: this.#now() });
      }
    } catch (error) {
      this.#logFailure('looking for due deliveries')(error);
    }
  }

  /** Claims from a shard when its next delivery is due. Later than the next poll is left to that poll. */
  #claimIn(shard: number, inMs: number): void {
    if (inMs <= 0) this.#claims.add(shard);
    else if (inMs <= POLL_MS) {
      void this.#deps.clock.sleep(Math.ceil(inMs), this.#stopping.signal).then(() => this.#claims.add(shard));
    }
  }

  async #claimShard(shard: number): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    const limit = this.#inFlight.claimLimit();
    if (limit === 0) return void this.#waitingShards.add(shard);
    const claimed = await claimDueDeliveries(this.#deps.db, {
      shard,
      limit,
      leaseMs: this.#leaseMs,
      holder: this.#deps.holder ?? null,
      healthyOnly: this.#inFlight.isHealthyOnly(),
      now: this.#now(),
      // Another deliverer is claiming from the shard. It may leave some deliveries.
      onLocked: () => this.#claimIn(shard, LOCKED_RETRY_MS),
    });
    for (const delivery of claimed) this.#inFlight.add(delivery, this.#attempt(delivery));
    if (claimed.length === limit) this.#claims.add(shard);
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    try {
      const result = await sendAttempt(delivery, this.#sendOptions);
      // The receiver did not cause the failure of an attempt that this process cut off.
      if (!result || (this.#isCutOff && !result.succeeded)) return await this.#handBack(delivery);
      this.#recorder.add(delivery.shard, result);
    } catch (error) {
      if (error instanceof UnreadableSecret) return await this.#postpone(delivery, error);
      // A bug. The delivery is due again when its lease ends.
      const { attemptId, webhookId } = delivery;
      this.#deps.log.error({ err: error, attempt_id: attemptId, webhook_id: webhookId }, 'attempt not made');
    }
  }

  async #handBack(delivery: ClaimedDelivery, delayMs: number | null = null): Promise<void> {
    const claims = [delivery];
    await handBackDeliveries(this.#deps.db, { shard: delivery.shard, claims, delayMs, now: this.#now() }).catch(
      this.#logFailure('handing back a delivery'),
    );
  }

  /** Until somebody restores the key or rotates the secret: retried after a minute, then less and less often. */
  async #postpone(delivery: ClaimedDelivery, error: UnreadableSecret): Promise<void> {
    const { webhookId, id } = delivery;
    const ageMs = this.#deps.clock.now() - timeOfId(id);
    await this.#handBack(delivery, Math.min(Math.max(ageMs, MIN_POSTPONE_MS), MAX_POSTPONE_MS));
    if (this.#unreadableWebhooks.has(webhookId) || this.#unreadableWebhooks.size >= MAX_UNREADABLE) return;
    this.#unreadableWebhooks.add(webhookId);
    this.#deps.log.error(
      { err: error, webhook_id: webhookId },
      'the secret of a webhook cannot be opened, and its deliveries wait: restore SECRETS_KEY or rotate the secret',
    );
  }

  #onRecorded(shard: number, retriesInMs: number[]): void {
    this.#claims.add(shard);
    for (const inMs of retriesInMs) this.#claimIn(shard, inMs);
    for (const waiting of this.#waitingShards) this.#claims.add(waiting);
    this.#waitingShards.clear();
  }

  #logFailure(activity: string): (error: unknown) => void {
    return (error) => {
      if (isDatabaseAway(error)) this.#deps.log.warn({ err: error }, `${activity} failed: the database is unavailable`);
      else this.#deps.log.error({ err: error }, `${activity} failed`);
    };
  }

  #now(): Date | null {
    return this.#deps.sqlNow?.() ?? null;
  }
}
