import { logFailure } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { waitAtMost } from '../../platform/clock.ts';
import { WakeSignal } from '../../platform/wake-signal.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { SHARD_COUNT } from '../../rules/shard.ts';
import {
  endDeliverers,
  endExpiredDeliverers,
  type Heartbeat,
  joinDeliverers,
  type OwnedShard,
  releaseShards,
  renewLease,
  takeShards,
} from './ownership-store.ts';

type OwnershipRuntime = Runtime & {
  /** Time in ms that does not jump. */
  monotonicMs: () => number;
  /** Name of this process, by which its parent sets its shards free when it has ended. */
  holder: string;
  /** Attempts of the shard that have begun and are not recorded. */
  unrecorded(shard: number): number;
  /** The deliveries of these shards are this process's from now on. */
  onTaken(shards: number[]): void;
  /** No attempt of these shards may start from now on. */
  onClosed(shards: number[]): void;
  /** The database's time, with each answer to a heartbeat. */
  onTime(nowMs: number): void;
};

// After the database was away all leases may have ended: each deliverer renews its own before others are ended.
const BEATS_BEFORE_ENDING_OTHERS = 3;

/** The shards that this process owns: its fair share of all 64, under a lease that each heartbeat renews. */
export class Ownership {
  readonly #runtime: OwnershipRuntime;
  /** Epochs of the shards in which attempts may start. */
  readonly #open = new Map<number, number>();
  /** Shards that are released once nothing of them is in flight. */
  readonly #closing = new Map<number, number>();
  readonly #wake = new WakeSignal();
  #id: string;
  #rejoined = 0;
  #goodBeats = 0;
  #trustedUntil = { monotonicMs: Number.NEGATIVE_INFINITY, wallMs: Number.NEGATIVE_INFINITY };
  #isLeaving = false;
  #hasLeft = false;
  /** Called after the next heartbeat. */
  #waiters: (() => void)[] = [];
  #unlisten: () => Promise<void> = async () => undefined;
  #beating: Promise<void> | null = null;

  constructor(runtime: OwnershipRuntime) {
    this.#runtime = runtime;
    this.#id = runtime.holder;
  }

  /** Joins the deliverers and takes shards, now and whenever some are free. Tries again while the database is away. */
  async start(): Promise<void> {
    this.#unlisten = await this.#runtime.db.listen('delivery_shards', () => this.#wake.send());
    this.#beating = this.#beatUntilStopped();
  }

  /** Whether attempts may start: others may take the shards once the lease has ended. */
  isTrusted(): boolean {
    const { clock, monotonicMs } = this.#runtime;
    // The monotonic clock stands still while the machine is suspended.
    return monotonicMs() < this.#trustedUntil.monotonicMs && clock.now() < this.#trustedUntil.wallMs;
  }

  /** Fences the records of attempts that start now. Null: the shard is not open. */
  epochOf(shard: number): number | null {
    return this.#open.get(shard) ?? null;
  }

  openShards(): number[] {
    return [...this.#open.keys()];
  }

  /** Call it when attempts of the shard were recorded: a shard that is being released may be drained. */
  recorded(shard: number): void {
    if (this.#closing.has(shard) && this.#runtime.unrecorded(shard) === 0) this.#wake.send();
  }

  /** Sends a heartbeat at once. Resolves when this process knows which shards it owns now, or the database is away. */
  renewed(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      this.#wake.send();
    });
  }

  /** No attempt starts from now on, and shards are released as they drain. */
  close(): void {
    this.#isLeaving = true;
    this.#closeShards([...this.#open.keys()]);
    this.#wake.send();
  }

  /** Ends the lease and sets the remaining shards free. */
  async leave(): Promise<void> {
    this.#hasLeft = true;
    this.#wake.send();
    await this.#beating;
    await this.#unlisten();
    await endDeliverers(this.#runtime.db, this.#id).catch((error) => logFailure(this.#runtime.log, error, 'heartbeat'));
  }

  async #beatUntilStopped(): Promise<void> {
    let hasJoined = false;
    while (!this.#hasLeft) {
      const woken = this.#wake.next();
      const waiters = this.#waiters.splice(0);
      try {
        if (!hasJoined) await joinDeliverers(this.#runtime.db, { id: this.#id, leaseMs: BOUNDS.shardLeaseMs });
        hasJoined = await this.#beat();
        if (!hasJoined) continue;
      } catch (error) {
        this.#goodBeats = 0;
        logFailure(this.#runtime.log, error, 'heartbeat');
      } finally {
        for (const resolve of waiters) resolve();
      }
      await waitAtMost(this.#runtime.clock, woken, BOUNDS.heartbeatMs);
    }
  }

  /** False: this deliverer was ended by another one, and has to join anew. */
  async #beat(): Promise<boolean> {
    const { db, clock, monotonicMs, log, onTime } = this.#runtime;
    // Counted from before the heartbeat was sent. The rest of the lease covers requests that are on their way.
    const trustedUntil = {
      monotonicMs: monotonicMs() + BOUNDS.shardTrustMs,
      wallMs: clock.now() + BOUNDS.shardTrustMs,
    };
    const heartbeat = await renewLease(db, { id: this.#id, leaseMs: BOUNDS.shardLeaseMs, isLeaving: this.#isLeaving });
    if (!heartbeat) {
      log.warn({ deliverer: this.#id }, 'the lease of this deliverer ended; it joins anew');
      this.#adopt([]);
      this.#goodBeats = 0;
      this.#id = `${this.#runtime.holder}.${++this.#rejoined}`;
      return false;
    }
    this.#trustedUntil = trustedUntil;
    this.#goodBeats += 1;
    onTime(heartbeat.nowMs);
    this.#adopt(heartbeat.owned);
    if (heartbeat.hasExpired && this.#goodBeats >= BEATS_BEFORE_ENDING_OTHERS) await endExpiredDeliverers(db);
    await this.#share(heartbeat);
    return true;
  }

  /** Follows the database: a shard with another epoch was lost, or taken by a statement whose answer was lost. */
  #adopt(owned: OwnedShard[]): void {
    const epochs = new Map(owned.map(({ shard, epoch }) => [shard, epoch]));
    for (const [shard, epoch] of this.#closing) if (epochs.get(shard) !== epoch) this.#closing.delete(shard);
    this.#forget([...this.#open].flatMap(([shard, epoch]) => (epochs.get(shard) === epoch ? [] : shard)));
    const taken = owned.filter(({ shard }) => !this.#open.has(shard) && !this.#closing.has(shard));
    for (const { shard, epoch } of taken) this.#open.set(shard, epoch);
    if (taken.length > 0) this.#runtime.onTaken(taken.map(({ shard }) => shard));
  }

  async #share({ sharing, free }: Heartbeat): Promise<void> {
    const { db, unrecorded } = this.#runtime;
    const place = sharing.indexOf(this.#id);
    const share = place < 0 ? 0 : Math.floor((SHARD_COUNT + sharing.length - 1 - place) / sharing.length);
    const byLoad = [...this.#open.keys()].sort((left, right) => unrecorded(left) - unrecorded(right));
    this.#closeShards(byLoad.slice(0, Math.max(0, byLoad.length - share)));
    const drained = [...this.#closing.keys()].filter((shard) => unrecorded(shard) === 0);
    if (drained.length > 0) {
      await releaseShards(db, { id: this.#id, shards: drained });
      for (const shard of drained) this.#closing.delete(shard);
    }
    const limit = Math.min(share - this.#open.size, free);
    if (limit <= 0) return;
    const taken = await takeShards(db, { id: this.#id, limit });
    this.#adopt([...this.#open, ...this.#closing].map(([shard, epoch]) => ({ shard, epoch })).concat(taken));
  }

  #closeShards(shards: number[]): void {
    for (const shard of shards) this.#closing.set(shard, this.#open.get(shard)!);
    this.#forget(shards);
  }

  #forget(shards: number[]): void {
    for (const shard of shards) this.#open.delete(shard);
    if (shards.length > 0) this.#runtime.onClosed(shards);
  }
}
