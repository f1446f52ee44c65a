import type { LiveEngine } from '../../engines/live/live-engine.ts';
import type { ClaimedJob, JobMetrics } from '../../jobs/job.ts';
import { chargedMsOf, type LiveRow, leaveSession } from '../../jobs/live/live-store.ts';
import { leaseMsOf, type TakenSession } from '../../jobs/live/take-over.ts';
import type { LeaseKeeper } from '../../jobs/work/lease-keeper.ts';
import { bytesPerSecond } from '../../rules/live/encoding.ts';
import type { SessionPhase } from '../../rules/live/session-phase.ts';
import { type EndReason, type HeldRuntime, HeldSession, type HeldUser, type Loss } from './held-session.ts';
import type { LiveMetrics } from './live-metrics.ts';
import { PaidAudio } from './paid-audio.ts';
import type { SessionEvents } from './session-decoding.ts';

export type LiveClaim = { shard: number; id: string; lease: number; leaseMs: number };

/** What sessions with clients run on. */
export type LiveRuntime = HeldRuntime & {
  metrics?: JobMetrics & LiveMetrics;
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
export type SessionUser = SessionEvents &
  Pick<HeldUser, 'caughtUp' | 'ended'> & {
    /** The client has to wait, until `resume`: nothing of it is read. */
    pause(): void;
    resume(): void;
    /** So many bytes are durable. */
    acknowledged?(offset: number): void;
    /** So many seconds are paid for; the session stops after them. */
    balanceLow?(secondsLeft: number): void;
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
export class RunningSession {
  readonly #runtime: LiveRuntime;
  readonly #place: Place;
  readonly #held: HeldSession;
  readonly #lease: Disposable;
  readonly #audio: PaidAudio;
  readonly #user: SessionUser;
  readonly #onClosed: () => void;
  #isHeldBack = false;
  #mostBehindSeconds = 0;
  #activeAtMs: number;
  /** When the last second of audio was complete, and the bytes that came since. */
  #audioAtMs: number;
  #audioBytes = 0;

  /** @param onClosed  called once, when the session needs its engine no more */
  constructor(runtime: LiveRuntime, taken: TakenSession & { place: Place }, user: SessionUser, onClosed: () => void) {
    const { row, place } = taken;
    this.#runtime = runtime;
    this.#user = user;
    this.#onClosed = onClosed;
    this.#place = place;
    this.#activeAtMs = runtime.clock.now();
    this.#audioAtMs = runtime.clock.now();
    const held = new HeldSession(runtime, { taken, engine: place.engine, events: user }, this.#heldUserOf(user));
    this.#held = held;
    const audioUser = {
      write: (bytes: Uint8Array) => held.decoding.write(bytes),
      balanceLow: (secondsLeft: number) => user.balanceLow?.(secondsLeft),
      stopped: (reason: EndReason) => void this.finish(reason),
      lost: () => held.lose('lost'),
      failed: (cause: unknown) => held.fail(cause, 'the hold of a live session could not be made'),
    };
    this.#audio = new PaidAudio(runtime, taken, audioUser, held.over);
    this.#lease = runtime.leases.hold(
      () => ({ shard: row.shard, id: row.id, lease: row.lease, leaseMs: leaseMsOf(row) }),
      () => held.loseLease(),
    );
    held.over.addEventListener('abort', () => this.#close());
    void this.#watch();
  }

  is(...phases: SessionPhase[]): boolean {
    return this.#held.is(...phases);
  }

  get job(): ClaimedJob {
    return this.#held.taken.job;
  }

  get row(): LiveRow {
    return this.#held.taken.row;
  }

  /** Bytes that came, gaps included, those that wait too. */
  get receivedBytes(): number {
    return this.#audio.cameBytes;
  }

  /** Final segments that are durable. */
  get segments(): number {
    return this.#held.entry.segments;
  }

  get durableBytes(): number {
    return this.#held.entry.durableBytes;
  }

  /** How far the engine is behind, in seconds of audio. */
  get behindSeconds(): number {
    return this.#held.decoding.behindSeconds();
  }

  /** The longest that the engine was behind, in seconds of audio. */
  get mostBehindSeconds(): number {
    return this.#mostBehindSeconds;
  }

  #isFull(): boolean {
    return this.#audio.isFull || this.#held.decoding.isFull();
  }

  /** The client is there, though it may send no audio. */
  keepAlive(): void {
    this.#activeAtMs = this.#runtime.clock.now();
  }

  write(bytes: Uint8Array): void {
    this.keepAlive();
    if (!this.is('running') || bytes.length === 0 || !this.#keepPlace(bytes.length)) return;
    this.#audio.push(bytes);
    if (!this.#isHeldBack && this.#isFull()) void this.#holdBack();
  }

  /** Ends the session where it would be too long. False when the offset was received already. */
  gap(to: number): boolean {
    if (to < this.receivedBytes) return false;
    if (!this.is('running')) return true;
    this.#audio.skip(to, () => void this.#held.decoding.gap(to));
    return true;
  }

  /** @param onNothing  called when no segment is open after the audio that came before */
  finalize(id: string | null, onNothing?: () => void): void {
    if (this.is('running')) this.#audio.after(() => this.#held.decoding.finalize(id, onNothing));
  }

  /** Gives the open segment up: its audio has no text. */
  discard(onDiscarded: () => void): void {
    if (this.is('running')) this.#audio.after(() => this.#held.decoding.discard(onDiscarded));
  }

  /**
   * No more audio is taken: everything is decoded, and the job ends.
   * @param reason  null: the client has no more
   */
  async finish(reason: EndReason | null = null): Promise<void> {
    await this.#held.finish(async () => {
      const short = await this.#audio.finish();
      await this.#audio.rested();
      this.#noteLag();
      return short ?? reason;
    });
  }

  /** The client is gone, or the process stops: another process may go on. Resolves when nothing more is done here. */
  async leave(): Promise<void> {
    if (!(await this.#held.leave(() => this.#audio.settled()))) return;
    await this.#runtime.db
      .transaction((tx) => leaveSession(tx, this.row))
      // Its lease ends by itself.
      .catch((cause: unknown) =>
        this.#runtime.log.warn({ job_id: this.job.id, err: cause }, 'a live session was left to its lease'),
      );
  }

  /** The client cancels the job. True once what came is durable, and nothing more is done here. */
  cancel(): Promise<boolean> {
    return this.#held.cancel(() => this.#audio.settled());
  }

  /** Another connection has the session: nothing more is done here. */
  abandon(): void {
    this.#held.abandon();
  }

  /** The client waits while the engine or the journal is full. */
  async #holdBack(): Promise<void> {
    const { over } = this.#held;
    this.#isHeldBack = true;
    this.#user.pause();
    while (this.#isFull() && !over.aborted) await this.#runtime.clock.sleep(FULL_CHECK_MS, over);
    this.#isHeldBack = false;
    this.#user.resume();
  }

  #heldUserOf(user: SessionUser): HeldUser {
    return {
      durable: (bytes, lagMs) => {
        this.#runtime.metrics?.liveAcknowledged(lagMs);
        user.acknowledged?.(bytes);
      },
      caughtUp: async () => await user.caughtUp?.(),
      warnings: () => (this.#mostBehindSeconds > BEHIND_SECONDS ? [{ code: 'behind' }] : []),
      lost: (loss) => {
        if (loss.reason === 'failed') this.#runtime.log.error({ job_id: this.job.id, err: loss.cause }, loss.what);
        user.lost(loss.reason);
      },
      ended: (job, reason) => user.ended(job, reason),
    };
  }

  /** A second of audio keeps the place, or takes one again. False when there is none any more: the session stops. */
  #keepPlace(bytes: number): boolean {
    this.#audioBytes += bytes;
    if (this.#audioBytes < bytesPerSecond(this.row.options)) return true;
    this.#audioBytes = 0;
    this.#audioAtMs = this.#runtime.clock.now();
    if (this.#place.wake()) return true;
    this.#held.lose('away');
    return false;
  }

  async #watch(): Promise<void> {
    const signal = this.#held.over;
    while (!signal.aborted) {
      await this.#runtime.clock.sleep(CHECK_EVERY_MS, signal);
      this.#noteLag();
      if (this.#held.entry.pendingMs() > AWAY_MAX_MS) this.#held.lose('away');
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
    this.#mostBehindSeconds = Math.max(this.#mostBehindSeconds, this.#held.decoding.behindSeconds());
  }

  #close(): void {
    const { row, job } = this.#held.taken;
    // What is not durable is counted by the connection that sends it again.
    const { durableBytes, gapBytes } = this.#held.entry;
    this.#runtime.metrics?.liveTaken(job.plan, chargedMsOf({ ...row, durableBytes, gapBytes }) - chargedMsOf(row));
    this.#onClosed();
    this.#lease[Symbol.dispose]();
  }
}
