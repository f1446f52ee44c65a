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
import { isOver, phaseAfter, type SessionMove, type SessionPhase } from '../rules/live/session-phase.ts';
import type { Place } from './live-engines.ts';
import type { LiveMetrics } from './live-metrics.ts';
import { type AudioEnd, PaidAudio } from './paid-audio.ts';

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

/** Why a job ends without its client's word. */
export type EndReason = AudioEnd | 'idle';
/** Why a session cannot go on here. `lost`: another process has it, or its job has ended there. */
export type LossReason = 'lost' | 'failed' | 'away';

/** What a wire tells its client. */
export type SessionUser = SessionEvents & {
  /** So many bytes are durable. */
  acknowledged?(offset: number): void;
  /** So many seconds are paid for; the session stops after them. */
  balanceLow?(secondsLeft: number): void;
  /** The session stops here; its job goes on elsewhere, or has ended. */
  lost(reason: LossReason): void;
  /** Resolves when the client has the segments that were stored before: the end of the job deletes them. */
  caughtUp?(): Promise<void>;
  /** The job has ended. @param reason  null: by the word of its client */
  ended(job: Job, reason: EndReason | null): void;
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
  readonly #audio: PaidAudio;
  #phase: SessionPhase = 'running';
  /** Aborted when the session is over. */
  readonly #over = new AbortController();
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
    const audioUser = {
      write: (bytes: Uint8Array) => this.#session.write(bytes),
      balanceLow: (secondsLeft: number) => user.balanceLow?.(secondsLeft),
      stopped: (reason: AudioEnd) => void this.finish(reason),
      lost: () => this.#lose('lost'),
      failed: (cause: unknown) => this.#fail(cause, 'the hold of a live session could not be made'),
    };
    this.#audio = new PaidAudio(runtime, taken, audioUser, this.#over.signal);
    this.#entry = runtime.journal.open({
      row,
      wordTimes: job.wordTimes,
      onDurable: (bytes, lagMs) => {
        runtime.metrics?.liveAcknowledged(lagMs);
        user.acknowledged?.(bytes);
      },
      onLost: () => this.#loseLease(),
      onFailed: (cause) => this.#fail(cause, 'a live session could not be written'),
    });
    this.#session = this.#openSession();
    this.#lease = runtime.leases.hold(
      () => ({ shard: row.shard, id: row.id, lease: row.lease, leaseMs: leaseMsOf(row) }),
      () => this.#loseLease(),
    );
    if (row.durableBytes > 0) {
      this.#session.replay().catch((cause: unknown) => this.#fail(cause, 'a live session could not be continued'));
    }
    void this.#watch();
  }

  is(...phases: SessionPhase[]): boolean {
    return phases.includes(this.#phase);
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
    if (!this.is('running') || bytes.length === 0 || !this.#keepPlace(bytes.length)) return;
    this.#audio.push(bytes);
  }

  /** Ends the session where it would be too long. False when the offset was received already. */
  gap(to: number): boolean {
    if (to < this.receivedBytes) return false;
    if (!this.is('running')) return true;
    this.#audio.skip(to, () => void this.#session.gap(to));
    return true;
  }

  /** @param onNothing  called when no segment is open after the audio that came before */
  finalize(id: string | null, onNothing?: () => void): void {
    if (this.is('running')) this.#audio.after(() => this.#session.finalize(id, onNothing));
  }

  /** Gives the open segment up: its audio has no text. */
  discard(onDiscarded: () => void): void {
    if (this.is('running')) this.#audio.after(() => this.#session.discard(onDiscarded));
  }

  /**
   * No more audio is taken: everything is decoded, and the job ends.
   * @param reason  null: the client has no more
   */
  async finish(reason: EndReason | null = null): Promise<void> {
    if (!this.is('running')) return;
    this.#move('finish');
    const short = await this.#audio.finish();
    await this.#end(short ?? reason);
  }

  /** The client is gone, or the process stops: another process may go on. Resolves when nothing more is done here. */
  async leave(): Promise<void> {
    if (!(await this.#flushAll())) return await this.#whenOver();
    this.#move('leave');
    await this.#runtime.db
      .transaction((tx) => leaveSession(tx, this.row))
      // Its lease ends by itself.
      .catch((cause: unknown) =>
        this.#runtime.log.warn({ job_id: this.job.id, err: cause }, 'a live session was left to its lease'),
      );
  }

  /** The client cancels the job. True once what came is durable, and nothing more is done here. */
  async cancel(): Promise<boolean> {
    if (!this.is('running') || !(await this.#flushAll())) return false;
    await this.#user.caughtUp?.();
    this.abandon();
    return true;
  }

  /** Another connection has the session, or the job is canceled: nothing more is done here. */
  abandon(): void {
    if (!isOver(this.#phase)) this.#move('lose');
  }

  /** Takes nothing more, and waits until what came is durable. False where the session ends, or is over. */
  async #flushAll(): Promise<boolean> {
    if (!this.is('running', 'finishing')) return false;
    this.#move('leave');
    await this.#audio.settled();
    await this.#entry.flush();
    return this.is('leaving');
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
    this.#lose('away');
    return false;
  }

  async #end(reason: EndReason | null): Promise<void> {
    try {
      await this.#audio.rested();
      this.#noteLag();
      await this.#session.finish();
      await this.#user.caughtUp?.();
      if (!this.is('finishing')) return;
      this.#move('end');
      const row = { ...this.row, durableBytes: this.#entry.durableBytes, gapBytes: this.#entry.gapBytes };
      const found = this.#mostBehindSeconds > BEHIND_SECONDS ? [{ code: 'behind' } as const] : [];
      const end = { model: this.#engine.name, warnings: [...this.#entry.warnings, ...found] };
      const again = { waits: 'the end of a live session', jobId: this.job.id, signal: this.#over.signal };
      const ended = await retryWhileAway(this.#runtime, again, () =>
        this.#runtime.ends(() =>
          endLiveJob(this.#runtime, { job: this.job, row }, { ...end, isOutOfBalance: reason === 'out_of_balance' }),
        ),
      );
      if (!this.is('ending')) return;
      if (ended === null) return this.#lose('lost');
      this.#move('end');
      this.#user.ended(ended, reason);
    } catch (cause) {
      this.#fail(cause, 'a live session could not be ended');
    }
  }

  /** The end of the job ends the lease too, and rows are gone then: who writes the end learns of a loss by itself. */
  #loseLease(): void {
    if (!this.is('ending')) this.#lose('lost');
  }

  /** A fault of the service. */
  #fail(cause: unknown, what: string): void {
    if (isOver(this.#phase)) return;
    this.#runtime.log.error({ job_id: this.job.id, err: cause }, what);
    this.#lose('failed');
  }

  #lose(reason: LossReason): void {
    if (isOver(this.#phase)) return;
    this.#move('lose');
    this.#user.lost(reason);
  }

  /** The only place where the phase changes. */
  #move(move: SessionMove): void {
    this.#phase = phaseAfter(this.#phase, move);
    if (isOver(this.#phase)) this.#close();
  }

  async #whenOver(): Promise<void> {
    if (isOver(this.#phase)) return;
    await new Promise((resolve) => this.#over.signal.addEventListener('abort', resolve));
  }

  async #watch(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      await this.#runtime.clock.sleep(CHECK_EVERY_MS, signal);
      this.#noteLag();
      if (this.#entry.pendingMs() > AWAY_MAX_MS) this.#lose('away');
      this.#finishWhenOver();
    }
  }

  #finishWhenOver(): void {
    // A client that has to wait is not idle.
    const nowMs = this.#runtime.clock.now();
    if (this.isFull()) this.#activeAtMs = this.#audioAtMs = nowMs;
    if (nowMs - this.#audioAtMs >= PLACE_MS) this.#place.rest();
    const isIdle = nowMs - this.#activeAtMs >= this.row.options.idleSeconds * 1000;
    if (isIdle || nowMs - this.job.createdAt.getTime() >= LONGEST_MS) void this.finish(isIdle ? 'idle' : 'too_long');
  }

  #noteLag(): void {
    this.#mostBehindSeconds = Math.max(this.#mostBehindSeconds, this.#session.behindSeconds());
  }

  #close(): void {
    this.#over.abort(null);
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
