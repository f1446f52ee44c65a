import type { StorageRuntime } from '../audio/storage/storage.ts';
import type { LiveEngine } from '../engines/live/live-engine.ts';
import type { ClaimedJob, Job, JobMetrics } from '../jobs/job.ts';
import { endLiveJob } from '../jobs/live/end-live.ts';
import type { JournalEntry, LiveJournal } from '../jobs/live/rows/journal.ts';
import { editOf } from '../jobs/live/rows/live-segment.ts';
import { chargedMsOf, type LiveRow, leaveSession } from '../jobs/live/rows/live-store.ts';
import { leaseMsOf, type TakenSession } from '../jobs/live/rows/take-over.ts';
import { LiveSession, type SessionEvents, segmentationFor } from '../jobs/live/session.ts';
import type { LeaseKeeper } from '../jobs/work/lease-keeper.ts';
import { retryWhileAway } from '../jobs/work/retry-while-away.ts';
import type { Semaphore } from '../platform/semaphore.ts';
import type { Slices } from '../platform/slices.ts';
import { bytesPerSecond } from '../rules/live/encoding.ts';
import type { Place } from './live-engines.ts';
import type { LiveMetrics } from './live-metrics.ts';
import { PaidAudio } from './paid-audio.ts';

export type LiveClaim = { shard: number; id: string; lease: number; leaseMs: number };

/** What live sessions run on. */
export type LiveRuntime = StorageRuntime & {
  slices: Slices;
  metrics?: JobMetrics & LiveMetrics;
  journal: LiveJournal;
  leases: LeaseKeeper<LiveClaim>;
  /** Each end takes up to 2 MB: 300 sessions that ended within 5 s took 50 MB, and all connections to the database. */
  ends: Semaphore;
};

/** Why a session ends without its client's word. */
export type StopReason = 'out_of_balance' | 'too_long' | 'idle' | 'lost' | 'failed' | 'away';

/** What a wire tells its client. */
export type SessionUser = SessionEvents & {
  /** So many bytes are durable. */
  acknowledged?(offset: number): void;
  /** So many seconds are paid for; the session stops after them. */
  balanceLow?(secondsLeft: number): void;
  /** The session stops. But for `lost`, `failed` and `away` its job ends, and `ended` follows. */
  stopped(reason: StopReason): void;
  /** Resolves when the client has the segments that were stored before: the end of the job deletes them. */
  caughtUp?(): Promise<void>;
  /** The job has ended. */
  ended(job: Job): void;
};

// While the database is away for longer, another node may have it: the client is sent there.
const AWAY_MAX_MS = 60_000;
const CHECK_EVERY_MS = 1_000;
const BEHIND_SECONDS = 5;
// A place of the engine is given up after this time with less than a second of audio.
const PLACE_MS = 60_000;
const LONGEST_MS = 12 * 3_600_000;

/**
 * A session that a client is connected to: what `LiveSession` decides, paid for before it is taken, under a lease that
 * is renewed, until its job ends or the client goes.
 */
export class RunningSession {
  readonly #runtime: LiveRuntime;
  readonly #user: SessionUser;
  readonly #onClosed: () => void;
  readonly #engine: LiveEngine;
  readonly #place: Place;
  readonly #taken: TakenSession;
  readonly #entry: JournalEntry;
  readonly #session: LiveSession;
  readonly #lease: Disposable;
  readonly #closed = new AbortController();
  readonly #audio: PaidAudio;
  #isEnding = false;
  #isWritingEnd = false;
  #mostBehindSeconds = 0;
  #activeAtMs: number;
  /** When the last second of audio was complete, and the bytes that came since. */
  #audioAtMs: number;
  #audioBytes = 0;

  /** @param onClosed  called once, when the session needs its engine no more */
  constructor(runtime: LiveRuntime, taken: TakenSession & { place: Place }, user: SessionUser, onClosed: () => void) {
    const { job, row } = taken;
    this.#runtime = runtime;
    this.#user = user;
    this.#onClosed = onClosed;
    this.#place = taken.place;
    this.#engine = taken.place.engine;
    this.#taken = taken;
    this.#activeAtMs = runtime.clock.now();
    this.#audioAtMs = runtime.clock.now();
    this.#audio = new PaidAudio(runtime, taken, {
      write: (bytes) => this.#session.write(bytes),
      balanceLow: (secondsLeft) => user.balanceLow?.(secondsLeft),
      stopped: (reason) => (reason === 'lost' ? this.#stop('lost') : this.#stopAt(reason)),
      failed: (cause) => this.#fail(cause, 'the hold of a live session could not be made'),
    });
    this.#entry = runtime.journal.open({
      row,
      wordTimes: job.wordTimes,
      onDurable: (bytes, lagMs) => {
        runtime.metrics?.liveAcknowledged(lagMs);
        user.acknowledged?.(bytes);
      },
      onLost: () => this.#lost(),
      onFailed: (cause) => this.#fail(cause, 'a live session could not be written'),
    });
    this.#session = this.#openSession();
    this.#lease = runtime.leases.hold(
      () => ({ shard: row.shard, id: row.id, lease: row.lease, leaseMs: leaseMsOf(row) }),
      () => this.#lost(),
    );
    if (row.durableBytes > 0) {
      this.#session.replay().catch((cause: unknown) => this.#fail(cause, 'a live session could not be continued'));
    }
    void this.#watch();
  }

  get model(): string {
    return this.#engine.name;
  }

  get job(): ClaimedJob {
    return this.#taken.job;
  }

  get row(): LiveRow {
    return this.#taken.row;
  }

  /** Bytes that came, gaps included, those that wait too. */
  get receivedBytes(): number {
    return this.#audio.cameBytes;
  }

  /** Final segments that are durable. */
  get segments(): number {
    return this.#entry.segments;
  }

  get durableBytes(): number {
    return this.#entry.durableBytes;
  }

  /** How far the engine is behind, in seconds of audio. */
  get behindSeconds(): number {
    return this.#session.behindSeconds();
  }

  /** The longest that the engine was behind, in seconds of audio. */
  get mostBehindSeconds(): number {
    return this.#mostBehindSeconds;
  }

  /** Whether the client has to wait. */
  isFull(): boolean {
    return this.#audio.isFull || this.#session.isFull();
  }

  /** The client is there, though it may send no audio. */
  keepAlive(): void {
    this.#activeAtMs = this.#runtime.clock.now();
  }

  write(bytes: Uint8Array): void {
    this.keepAlive();
    if (this.#isEnding || bytes.length === 0 || !this.#keepPlace(bytes.length)) return;
    this.#audio.push(bytes);
  }

  /** Ends the session where it would be too long. False when the offset was received already. */
  gap(to: number): boolean {
    if (to < this.receivedBytes) return false;
    if (this.#isEnding) return true;
    this.#audio.skip(to, () => void this.#session.gap(to));
    return true;
  }

  /** @param onNothing  called when no segment is open after the audio that came before */
  finalize(id: string | null, onNothing?: () => void): void {
    if (!this.#isEnding) this.#audio.after(() => this.#session.finalize(id, onNothing));
  }

  /** Gives the open segment up: its audio has no text. */
  discard(onDiscarded: () => void): void {
    if (!this.#isEnding) this.#audio.after(() => this.#session.discard(onDiscarded));
  }

  /** The client has no more audio: everything is decoded, and the job ends. */
  async finish(): Promise<void> {
    if (this.#isEnding) return;
    await new Promise<void>((resolve) => this.#audio.after(resolve));
    await this.#end();
  }

  /** Resolves once all that was taken is durable. */
  async flush(): Promise<void> {
    await this.#audio.settled();
    await this.#entry.flush();
  }

  /** The client is gone: it may come back, to any process. */
  async leave(): Promise<void> {
    if (this.#closed.signal.aborted || this.#isEnding) return;
    this.#isEnding = true;
    await this.flush();
    this.#close();
    await this.#runtime.db
      .transaction((tx) => leaveSession(tx, this.row))
      // Its lease ends by itself.
      .catch((cause: unknown) =>
        this.#runtime.log.warn({ job_id: this.job.id, err: cause }, 'a live session was left to its lease'),
      );
  }

  /** Another connection has the session, or the job is canceled: nothing more is done here. */
  abandon(): void {
    this.#close();
  }

  #openSession(): LiveSession {
    const { job, row } = this.#taken;
    const { prompt, keywords } = job.options;
    const traced = job.traceparent !== null && { traceparent: job.traceparent };
    return new LiveSession({
      format: row.options,
      segmentation: segmentationFor(this.#engine, row.options),
      position: { frame: row.frame, isSpeaking: row.isSpeaking },
      receivedBytes: row.durableBytes,
      nextNumber: row.segments + 1,
      journal: this.#entry,
      openDecoder: () => this.#engine.open({ language: job.language, prompt, keywords, ...traced, jobId: job.id }),
      turn: () => this.#runtime.slices.turn(job.accountId),
      edit: editOf(job),
      onFailed: (cause) => this.#fail(cause, 'a live session could not be read again'),
      events: this.#user,
    });
  }

  /** A second of audio keeps the place, or takes one again. False when there is none any more: the session stops. */
  #keepPlace(bytes: number): boolean {
    this.#audioBytes += bytes;
    if (this.#audioBytes < bytesPerSecond(this.row.options)) return true;
    this.#audioBytes = 0;
    this.#audioAtMs = this.#runtime.clock.now();
    if (this.#place.wake()) return true;
    this.#stop('away');
    return false;
  }

  #stopAt(reason: 'out_of_balance' | 'too_long'): void {
    if (this.#isEnding) return;
    this.#user.stopped(reason);
    void this.#end(reason === 'out_of_balance');
  }

  async #end(isOutOfBalance = false): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    try {
      await this.#audio.rested();
      this.#noteLag();
      await this.#session.finish();
      await this.#user.caughtUp?.();
      if (this.#closed.signal.aborted) return;
      const row = { ...this.row, durableBytes: this.#entry.durableBytes, gapBytes: this.#entry.gapBytes };
      const found = this.#mostBehindSeconds > BEHIND_SECONDS ? [{ code: 'behind' } as const] : [];
      const end = { model: this.#engine.name, warnings: [...this.#entry.warnings, ...found], isOutOfBalance };
      this.#isWritingEnd = true;
      const again = { waits: 'the end of a live session', jobId: this.job.id, signal: this.#closed.signal };
      const ended = await retryWhileAway(this.#runtime, again, () =>
        this.#runtime.ends(() => endLiveJob(this.#runtime, { job: this.job, row }, end)),
      );
      if (ended === null) return this.#stop('lost');
      this.#close();
      this.#user.ended(ended);
    } catch (cause) {
      this.#fail(cause, 'a live session could not be ended');
    }
  }

  /** The end of the job ends the lease too, and rows are gone then: who writes the end learns of a loss by itself. */
  #lost(): void {
    if (!this.#isWritingEnd) this.#stop('lost');
  }

  /** A fault of the service. */
  #fail(cause: unknown, what: string): void {
    if (this.#closed.signal.aborted) return;
    this.#runtime.log.error({ job_id: this.job.id, err: cause }, what);
    this.#stop('failed');
  }

  #stop(reason: StopReason): void {
    if (this.#closed.signal.aborted) return;
    this.#close();
    this.#user.stopped(reason);
  }

  async #watch(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      await this.#runtime.clock.sleep(CHECK_EVERY_MS, signal);
      this.#noteLag();
      if (this.#entry.pendingMs() > AWAY_MAX_MS) this.#stop('away');
      this.#finishWhenOver();
    }
  }

  #finishWhenOver(): void {
    // A client that has to wait is not idle.
    const nowMs = this.#runtime.clock.now();
    if (this.isFull()) this.#activeAtMs = this.#audioAtMs = nowMs;
    if (nowMs - this.#audioAtMs >= PLACE_MS) this.#place.rest();
    const isIdle = nowMs - this.#activeAtMs >= this.row.options.idleSeconds * 1000;
    if (this.#isEnding || (!isIdle && nowMs - this.job.createdAt.getTime() < LONGEST_MS)) return;
    this.#user.stopped(isIdle ? 'idle' : 'too_long');
    void this.finish();
  }

  #noteLag(): void {
    this.#mostBehindSeconds = Math.max(this.#mostBehindSeconds, this.#session.behindSeconds());
  }

  #close(): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort(null);
    this.#audio.close();
    const { row, job } = this.#taken;
    // What is not durable is counted by the connection that sends it again.
    const { durableBytes, gapBytes } = this.#entry;
    this.#runtime.metrics?.liveTaken(job.plan, chargedMsOf({ ...row, durableBytes, gapBytes }) - chargedMsOf(row));
    this.#onClosed();
    this.#lease[Symbol.dispose]();
    this.#session.close();
    this.#entry.close();
  }
}
