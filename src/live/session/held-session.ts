import type { StorageRuntime } from '../../audio/storage/storage.ts';
import type { LiveEngine } from '../../engines/live/live-engine.ts';
import type { Job, JobMetrics } from '../../jobs/job.ts';
import { endLiveJob } from '../../jobs/live/end-live.ts';
import { editOf } from '../../jobs/live/live-segment.ts';
import type { TakenSession } from '../../jobs/live/take-over.ts';
import { retryWhileAway } from '../../jobs/work/retry-while-away.ts';
import type { Semaphore } from '../../platform/semaphore.ts';
import type { Slices } from '../../platform/slices.ts';
import type { FoundWarning } from '../../rules/jobs/warnings.ts';
import { isOver, phaseAfter, type SessionMove, type SessionPhase } from '../../rules/live/session-phase.ts';
import type { JournalEntry, LiveJournal } from './journal.ts';
import { SessionDecoding, type SessionEvents, segmentationFor } from './session-decoding.ts';

/** What a session runs on, with a client or without. */
export type HeldRuntime = StorageRuntime & {
  slices: Slices;
  metrics?: JobMetrics;
  journal: LiveJournal;
  /** Each end takes up to 2 MB: 300 sessions that ended within 5 s took 50 MB, and all connections to the database. */
  ends: Semaphore;
};

/** Why a job ends without its client's word. */
export type EndReason = 'out_of_balance' | 'too_long' | 'idle';

/**
 * Why a session cannot go on here. `lost`: another process has it, or its job has ended there. `away`: the database or
 * the engine. `failed`: a fault of the service, `cause`; `what` is its line of the log.
 */
export type Loss = { reason: 'lost' | 'away' } | { reason: 'failed'; cause: unknown; what: string };

export type HeldUser = {
  /** The first `bytes` bytes are durable; the oldest of the last write became durable `lagMs` after it came. */
  durable?(bytes: number, lagMs: number): void;
  /** Resolves when the client has the segments that were stored before: the end of the job deletes them. */
  caughtUp?(): Promise<void>;
  /** What the job should warn of beside what was found in its audio. */
  warnings?(): FoundWarning[];
  /** The session stops here; its job goes on elsewhere, or has ended. */
  lost(loss: Loss): void;
  /** The job has ended. @param reason  null: by the word of its client, or without a client */
  ended(job: Job, reason: EndReason | null): void;
};

/**
 * A live session that this process has taken over, from then on until its job ends, or until the process does nothing
 * more for it: `SESSION_MOVES` has its phases. Sessions with a client and those without come to their end here.
 */
export class HeldSession {
  readonly taken: TakenSession;
  readonly entry: JournalEntry;
  readonly decoding: SessionDecoding;
  readonly #runtime: HeldRuntime;
  readonly #engine: LiveEngine;
  readonly #user: HeldUser;
  readonly #over = new AbortController();
  #phase: SessionPhase = 'running';

  /** @param events  of the decoding, for the client */
  constructor(
    runtime: HeldRuntime,
    { taken, engine, events }: { taken: TakenSession; engine: LiveEngine; events: SessionEvents },
    user: HeldUser,
  ) {
    const { job, row } = taken;
    const { prompt, keywords } = job.options;
    const traced = job.traceparent !== null && { traceparent: job.traceparent };
    this.#runtime = runtime;
    this.#engine = engine;
    this.#user = user;
    this.taken = taken;
    this.entry = runtime.journal.open({
      row,
      wordTimes: job.wordTimes,
      onDurable: (bytes, lagMs) => user.durable?.(bytes, lagMs),
      onLost: () => this.loseLease(),
      onFailed: (cause) => this.fail(cause, 'a live session could not be written'),
    });
    this.decoding = new SessionDecoding({
      format: row.options,
      segmentation: segmentationFor(engine, row.options),
      position: { frame: row.frame, isSpeaking: row.isSpeaking },
      receivedBytes: row.durableBytes,
      nextNumber: row.segments + 1,
      journal: this.entry,
      openDecoder: () => engine.open({ language: job.language, prompt, keywords, ...traced, jobId: job.id }),
      turn: () => runtime.slices.turn(job.accountId),
      edit: editOf(job),
      onFailed: (cause) => this.fail(cause, 'a live session could not be read again'),
      events,
    });
    if (row.durableBytes > 0) {
      this.decoding.replay().catch((cause: unknown) => this.fail(cause, 'a live session could not be continued'));
    }
  }

  is(...phases: SessionPhase[]): boolean {
    return phases.includes(this.#phase);
  }

  /** Aborts when the session is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /**
   * Decodes everything, and ends the job; nothing more is taken.
   * @param taken  resolves once what came is taken, to why the job ends
   */
  async finish(taken: () => Promise<EndReason | null>): Promise<void> {
    if (!this.is('running')) return;
    this.#move('finish');
    try {
      const reason = await taken();
      await this.decoding.finish();
      await this.#user.caughtUp?.();
      if (!this.is('finishing')) return;
      this.#move('end');
      const ended = await this.#writeEnd(reason);
      if (!this.is('ending')) return;
      if (ended === null) return this.lose('lost');
      this.#move('end');
      this.#user.ended(ended, reason);
    } catch (cause) {
      this.fail(cause, 'a live session could not be ended');
    }
  }

  /**
   * Takes nothing more, and commits what came; where the end is written already, waits for it.
   * @param taken  resolves once what came is taken
   * @returns true once the session is left; false when it was over, or lost, or its job has ended meanwhile
   */
  async leave(taken: () => Promise<void>): Promise<boolean> {
    if (await this.#flushAll(taken)) this.#move('leave');
    else if (!isOver(this.#phase)) await new Promise((resolve) => this.over.addEventListener('abort', resolve));
    return this.is('left');
  }

  /** As `leave`, for a job that its client cancels. True once it can be canceled. */
  async cancel(taken: () => Promise<void>): Promise<boolean> {
    if (!this.is('running') || !(await this.#flushAll(taken))) return false;
    await this.#user.caughtUp?.();
    this.abandon();
    return true;
  }

  /** Nothing more is done here, and nobody is told. */
  abandon(): void {
    if (!isOver(this.#phase)) this.#move('lose');
  }

  lose(reason: 'lost' | 'away'): void {
    this.#lose({ reason });
  }

  /** The end of the job ends the lease too, and rows are gone then: who writes the end learns of a loss by itself. */
  loseLease(): void {
    if (!this.is('ending')) this.lose('lost');
  }

  /** A fault of the service. */
  fail(cause: unknown, what: string): void {
    this.#lose({ reason: 'failed', cause, what });
  }

  #lose(loss: Loss): void {
    if (isOver(this.#phase)) return;
    this.#move('lose');
    this.#user.lost(loss);
  }

  /** The only place where the phase changes. */
  #move(move: SessionMove): void {
    this.#phase = phaseAfter(this.#phase, move);
    if (!isOver(this.#phase)) return;
    this.#over.abort(null);
    this.decoding.close();
    this.entry.close();
  }

  /** False where the session ends, or is over. */
  async #flushAll(taken: () => Promise<void>): Promise<boolean> {
    if (!this.is('running', 'finishing')) return false;
    this.#move('leave');
    await taken();
    await this.entry.flush();
    return this.is('leaving');
  }

  async #writeEnd(reason: EndReason | null): Promise<Job | null> {
    const { durableBytes, gapBytes, warnings } = this.entry;
    const { job } = this.taken;
    const row = { ...this.taken.row, durableBytes, gapBytes };
    const found = [...warnings, ...(this.#user.warnings?.() ?? [])];
    const end = { model: this.#engine.name, warnings: found, isOutOfBalance: reason === 'out_of_balance' };
    const again = { waits: 'the end of a live session', jobId: job.id, signal: this.over };
    return await retryWhileAway(this.#runtime, again, () =>
      this.#runtime.ends(() => endLiveJob(this.#runtime, { job, row }, end)),
    );
  }
}
