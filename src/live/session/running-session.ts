import type { LiveEngine } from '../../engines/live/live-engine.ts';
import { chargedMsOf } from '../../jobs/live/live-store.ts';
import type { LeaseKeeper } from '../../jobs/work/lease-keeper.ts';
import type { FoundWarning } from '../../rules/jobs/warnings.ts';
import { bytesPerSecond } from '../../rules/live/encoding.ts';
import { FirstBytes } from './audio/first-bytes.ts';
import { type HeldRuntime, HeldSession, type HeldUser, type LiveMetrics, type Loss } from './held-session.ts';
import { leaseMsOf, type TakenSession } from './take-over.ts';

export type LiveClaim = { shard: number; id: string; lease: number; leaseMs: number };

/** What sessions with clients run on. */
export type LiveRuntime = HeldRuntime & {
  liveMetrics: LiveMetrics;
  leases: LeaseKeeper<LiveClaim>;
};

/** A session's place. */
export type Place = {
  engine: LiveEngine;
  /** Gives the place to others while no audio comes. */
  rest(): void;
  /** Takes a place again. False when there is none. */
  wake(): boolean;
  /** The session needs its engine no more. */
  free(): void;
};

/** What a wire tells its client. */
export type SessionUser = Omit<HeldUser, 'lost'> & {
  /** The client has to wait, until `resume`: nothing of it is read. */
  pause(): void;
  resume(): void;
  /** The session stops here; its job goes on elsewhere, or has ended. */
  lost(reason: Loss['reason']): void;
};

// While the database is away for longer, another node may have it: the client is sent there.
const AWAY_MAX_MS = 60_000;
const CHECK_EVERY_MS = 1_000;
const FULL_CHECK_MS = 50;
const BEHIND_SECONDS = 5;
// A place of the engine is given up after this time with less than a second of audio.
const PLACE_MS = 60_000;
const LONGEST_MS = 12 * 3_600_000;

/**
 * A session that a client is connected to: its audio is paid for before it is taken, under a lease that is renewed,
 * until the job ends or the client goes.
 */
export class RunningSession extends HeldSession {
  readonly #runtime: LiveRuntime;
  readonly #place: Place;
  readonly #lease: Disposable;
  readonly #client: Pick<SessionUser, 'pause' | 'resume'>;
  #isHeldBack = false;
  #mostBehindSeconds = 0;
  #activeAtMs: number;
  /** When the last second of audio was complete, and the bytes that came since. */
  #audioAtMs: number;
  #audioBytes = 0;
  /** Null where the session's start was taken before, or is lost. */
  #firstBytes: FirstBytes | null;

  constructor(runtime: LiveRuntime, taken: TakenSession & { place: Place }, user: SessionUser) {
    const { row, place, job } = taken;
    const lost = (loss: Loss) => {
      if (loss.reason === 'failed') runtime.log.error({ job_id: job.id, err: loss.cause }, loss.what);
      user.lost(loss.reason);
    };
    super(runtime, taken, place.engine, { ...user, lost });
    this.#runtime = runtime;
    this.#client = user;
    this.#place = place;
    this.#activeAtMs = runtime.clock.now();
    this.#audioAtMs = runtime.clock.now();
    this.#firstBytes = row.durableBytes === 0 ? new FirstBytes(row.options) : null;
    this.#lease = runtime.leases.hold(
      () => ({ shard: row.shard, id: row.id, lease: row.lease, leaseMs: leaseMsOf(row) }),
      () => this.loseLease(),
    );
    this.over.addEventListener('abort', () => this.#close());
    void this.#watch();
  }

  /** The longest that the engine was behind, in seconds of audio. */
  get mostBehindSeconds(): number {
    return this.#mostBehindSeconds;
  }

  #isFull(): boolean {
    return this.audio.isFull || this.decoding.isFull();
  }

  /** The client is there, though it may send no audio. */
  keepAlive(): void {
    this.#activeAtMs = this.#runtime.clock.now();
  }

  write(bytes: Uint8Array): void {
    this.keepAlive();
    if (!this.is('running') || bytes.length === 0 || !this.#keepPlace(bytes.length)) return;
    const judged = this.#firstBytes?.push(bytes) ?? { bytes };
    if ('refusal' in judged) return void this.refuse(judged.refusal);
    this.audio.push(judged.bytes);
    if (!this.#isHeldBack && this.#isFull()) void this.#holdBack();
  }

  /** Ends the session where it would be too long. False when the offset was received already. */
  gap(to: number): boolean {
    if (to < this.audio.cameBytes) return false;
    if (!this.is('running')) return true;
    this.#firstBytes = null;
    this.audio.skip(to, () => this.decoding.gap(to));
    return true;
  }

  /** @param onNothing  called when no segment is open after the audio that came before */
  finalize(id: string | null, onNothing?: () => void): void {
    if (this.is('running')) this.audio.after(() => this.decoding.finalize(id, onNothing));
  }

  /** Gives the open segment up: its audio has no text. */
  discard(onDiscarded: () => void): void {
    if (this.is('running')) this.audio.after(() => this.decoding.discard(onDiscarded));
  }

  /** The client waits while the engine or the journal is full. */
  async #holdBack(): Promise<void> {
    const { over } = this;
    this.#isHeldBack = true;
    this.#client.pause();
    while (this.#isFull() && !over.aborted) await this.#runtime.clock.sleep(FULL_CHECK_MS, over);
    this.#isHeldBack = false;
    this.#client.resume();
  }

  protected override allTaken(): void {
    this.#noteLag();
  }

  protected override warnings(): FoundWarning[] {
    return this.#mostBehindSeconds > BEHIND_SECONDS ? [{ code: 'behind' }] : [];
  }

  /** A second of audio keeps the place, or takes one again. False when there is none any more: the session stops. */
  #keepPlace(bytes: number): boolean {
    this.#audioBytes += bytes;
    if (this.#audioBytes < bytesPerSecond(this.row.options)) return true;
    this.#audioBytes = 0;
    this.#audioAtMs = this.#runtime.clock.now();
    if (this.#place.wake()) return true;
    this.lose('away');
    return false;
  }

  async #watch(): Promise<void> {
    const signal = this.over;
    while (!signal.aborted) {
      await this.#runtime.clock.sleep(CHECK_EVERY_MS, signal);
      this.#noteLag();
      if (this.entry.pendingMs() > AWAY_MAX_MS) this.lose('away');
      this.#finishWhenOver();
    }
  }

  #finishWhenOver(): void {
    // A client that has to wait is not idle.
    const nowMs = this.#runtime.clock.now();
    if (this.#isFull()) this.#activeAtMs = this.#audioAtMs = nowMs;
    if (nowMs - this.#audioAtMs >= PLACE_MS) this.#place.rest();
    const isIdle = nowMs - this.#activeAtMs >= this.row.options.idleSeconds * 1000;
    if (isIdle || nowMs - this.job.createdAt.getTime() >= LONGEST_MS) void this.finish(isIdle ? 'idle' : 'too_long');
  }

  #noteLag(): void {
    this.#mostBehindSeconds = Math.max(this.#mostBehindSeconds, this.decoding.behindSeconds());
  }

  #close(): void {
    const { row, job } = this;
    // What is not durable is counted by the connection that sends it again.
    const takenMs = chargedMsOf({ ...row, ...this.entry.durable }) - chargedMsOf(row);
    this.#runtime.liveMetrics.liveTaken(job.plan, takenMs);
    this.#place.free();
    this.#lease[Symbol.dispose]();
  }
}
