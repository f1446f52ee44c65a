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
import { claimDueDeliveries, handBackDeliveries, shardsWithDueDeliveries } from './claim-store.ts';
import { dropUndeliverable } from './drop-store.ts';
import { openShardQueue } from './per-shard-queue.ts';
import type { RecorderDeps } from './record.ts';
import { openRecorder } from './record.ts';
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
  /** What the statements take for the present; default: the database's own clock. */
  sqlNow?: () => Date;
  random?: () => number;
  /** How long a claim lasts; at least three times the time for an attempt. */
  leaseMs?: number;
  /** This process, so that its leases can be released by name when it has ended. */
  holder?: string | null;
};

export type Deliverer = {
  /** Ends within 10 s: attempts under way finish or are handed back. */
  stop(): Promise<void>;
};

const POLL_MS = 1_000;
// Each on a connection of its own.
const CLAIMS_AT_ONCE = 3;
const TAKEN_MS = 10;
// Larger batches gain nothing more (200, 500 and 1,000 measured alike), and their bodies fill memory.
const CLAIM_LIMIT = 250;
// About 100 KB of memory for each TLS socket that hangs.
const MAX_IN_FLIGHT = 8_192;
// From here on only first attempts of webhooks that have worked are claimed: those that hang cannot fill every place.
const HEALTHY_ONLY_FROM = 6_144;
// The same from so many attempts at webhooks that fail or are new: about as many as the gate for handshakes lets in before
// those at its end have waited too long.
const MAX_SUSPECTS_IN_FLIGHT = 1_536;
const MAX_IN_FLIGHT_BYTES = 256 * 1024 * 1024;
const STOP_WAIT_MS = 8_000;
const MIN_HOLD_MS = 60_000;
const MAX_HOLD_MS = 3_600_000;
// Webhooks that an error line was written for; beyond them the cause is plain.
const MAX_UNREADABLE = 1_000;

/**
 * Sends what is due: woken by NOTIFY and by a poll, it claims shard by shard, makes the attempts, and records them in
 * batches. A crash at any point leaves leased rows, which are due again when their lease ends.
 */
export async function startDeliverer(deps: DelivererDeps): Promise<Deliverer> {
  const { db, config, log, clock } = deps;
  const timeoutMs = config.webhookTimeoutMs;
  // An attempt may wait as long as it may take, and its record be retried as long again.
  const leaseMs = deps.leaseMs ?? Math.max(4 * timeoutMs, 10_000);
  if (leaseMs < 3 * timeoutMs) throw new RangeError(`a lease of ${leaseMs} ms is too short for ${timeoutMs} ms`);

  const poster = openPoster({
    timeoutMs,
    maxWaitMs: timeoutMs,
    allowedTargets: config.webhookAllowedTargets,
    ca: deps.ca,
    lookup: deps.lookup,
    proxyUrl: config.webhookProxyUrl,
  });
  const sendOptions = {
    poster,
    signers: openSigners(deps.secretBox),
    clock,
    headerPrefix: config.webhookHeaderPrefix,
    retryDelaysMs: config.webhookRetryDelaysMs,
    random: deps.random ?? Math.random,
  };
  const now = () => deps.sqlNow?.() ?? null;
  const claims = openShardQueue(CLAIMS_AT_ONCE, (shard) => claimShard(shard).catch(failed('claiming deliveries')));
  const recorder = openRecorder({
    ...{ db, config, log, clock, now, metrics: deps.metrics },
    patienceMs: leaseMs,
    onRecorded(shard, retriesInMs) {
      claims.add(shard);
      for (const inMs of retriesInMs) wakeIn(shard, inMs);
      for (const one of starved) claims.add(one);
      starved.clear();
    },
  });
  const unreadable = new Set<string>();
  // Shards that found every place taken.
  const starved = new Set<number>();
  const inFlight = new Set<Promise<void>>();
  const stopping = new AbortController();
  let inFlightBytes = 0;
  let suspectsInFlight = 0;
  let isCuttingOff = false;

  async function claimShard(shard: number): Promise<void> {
    const room = inFlightBytes > MAX_IN_FLIGHT_BYTES ? 0 : Math.min(CLAIM_LIMIT, MAX_IN_FLIGHT - inFlight.size);
    if (stopping.signal.aborted) return;
    if (room <= 0) return void starved.add(shard);
    const healthyOnly = inFlight.size >= HEALTHY_ONLY_FROM || suspectsInFlight >= MAX_SUSPECTS_IN_FLIGHT;
    // What another deliverer claims just now is not waited for; what it leaves is looked for soon.
    const onTaken = () => wakeIn(shard, TAKEN_MS);
    const request = { shard, limit: room, leaseMs, holder: deps.holder ?? null, healthyOnly, now: now(), onTaken };
    const claimed = await claimDueDeliveries(db, request);
    for (const delivery of claimed) begin(delivery);
    if (claimed.length === room) claims.add(shard);
  }

  function begin(delivery: ClaimedDelivery): void {
    const suspects = delivery.isDegraded ? 1 : 0;
    inFlightBytes += delivery.body.length;
    suspectsInFlight += suspects;
    const done = attempt(delivery).finally(() => {
      inFlight.delete(done);
      inFlightBytes -= delivery.body.length;
      suspectsInFlight -= suspects;
    });
    inFlight.add(done);
  }

  async function attempt(delivery: ClaimedDelivery): Promise<void> {
    try {
      const result = await sendAttempt(delivery, sendOptions);
      // What was cut off by our own end is no failure of the receiver's.
      if (!result || (isCuttingOff && !result.succeeded)) return await handBack(delivery);
      recorder.add(delivery.shard, result);
    } catch (error) {
      if (error instanceof UnreadableSecret) return await holdBack(delivery, error);
      // A bug: its lease ends, and it is tried again.
      log.error({ err: error, delivery_id: delivery.attemptId, webhook_id: delivery.webhookId }, 'attempt not made');
    }
  }

  async function handBack(delivery: ClaimedDelivery, delayMs: number | null = null): Promise<void> {
    const claims = [delivery];
    await handBackDeliveries(db, { shard: delivery.shard, claims, delayMs, now: now() }).catch(failed('handing back'));
  }

  /** Until somebody restores the key or rotates the secret: tried after a minute, then ever less often. */
  async function holdBack(delivery: ClaimedDelivery, error: UnreadableSecret): Promise<void> {
    const { webhookId, id } = delivery;
    const ageMs = clock.now() - timeOfId(id);
    await handBack(delivery, Math.min(Math.max(ageMs, MIN_HOLD_MS), MAX_HOLD_MS));
    if (unreadable.has(webhookId) || unreadable.size >= MAX_UNREADABLE) return;
    unreadable.add(webhookId);
    const wayOut = 'restore SECRETS_KEY, or have the secret rotated; its deliveries wait';
    log.error({ err: error, webhook_id: webhookId }, `the secret of a webhook cannot be opened: ${wayOut}`);
  }

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      await wakeAll().catch(failed('looking for due deliveries'));
      await clock.sleep(POLL_MS, stopping.signal);
    }
  }

  async function wakeAll(): Promise<void> {
    for (const { shard, inMs } of await shardsWithDueDeliveries(db, { aheadMs: POLL_MS, now: now() })) {
      wakeIn(shard, inMs);
      if (inMs === 0) await dropUndeliverable(db, { shard, now: now() });
    }
  }

  /** What falls due before the next poll is not left to it: a retry starts at its time, not up to a second later. */
  function wakeIn(shard: number, inMs: number): void {
    if (inMs <= 0) claims.add(shard);
    else if (inMs <= POLL_MS) void clock.sleep(Math.ceil(inMs), stopping.signal).then(() => claims.add(shard));
  }

  function failed(doing: string): (error: unknown) => void {
    return (error) => {
      if (isDatabaseAway(error)) log.warn({ err: error }, `${doing}: the database is away`);
      else log.error({ err: error }, `${doing} failed`);
    };
  }

  async function stop(): Promise<void> {
    stopping.abort();
    await unlisten();
    claims.stop();
    await claims.idle();
    const patience = new AbortController();
    await Promise.race([allDone(), clock.sleep(STOP_WAIT_MS, patience.signal)]);
    patience.abort();
    isCuttingOff = true;
    poster.close();
    await allDone();
    await recorder.finish();
    await polling;
  }

  async function allDone(): Promise<void> {
    await Promise.all(inFlight);
  }

  const unlisten = await db.listen('deliveries_due', (payload) => {
    const shard = payload === '' ? Number.NaN : Number(payload);
    if (Number.isInteger(shard)) claims.add(shard);
    else wakeAll().catch(failed('looking for due deliveries'));
  });
  const polling = poll();
  return { stop };
}
