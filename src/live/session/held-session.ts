import type { StorageRuntime } from '../../audio/storage/storage.ts';
import type { LiveEngine } from '../../engines/live/live-engine.ts';
import type { ClaimedJob, Job, JobMetrics } from '../../jobs/job.ts';
import { type LiveRow, leaveSession } from '../../jobs/live/live-store.ts';
import { retryWhileAway } from '../../jobs/work/retry-while-away.ts';
import type { Semaphore } from '../../platform/semaphore.ts';
import type { Slices } from '../../platform/slices.ts';
import type { FoundWarning } from '../../rules/jobs/warnings.ts';
import { isOver, phaseAfter, type SessionMove, type SessionPhase } from '../../rules/live/session-phase.ts';
import { openReplacer } from '../../rules/transcript/replacements.ts';
import { endLiveJob } from './end-live.ts';
import type { JournalEntry, JournalSession, LiveJournal } from './journal.ts';
import { PaidAudio, type PayingSession } from './paid-audio.ts';
import { SessionDecoding, type SessionEvents } from './session-decoding.ts';
import type { TakenSession } from './take-over.ts';

/** Counts what live sessions do. */
export type LiveMetrics = {
  liveConnected(kind: 'new' | 'resumed'): void;
  liveClosed(code: number): void;
  liveAcknowledged(lagMs: number): void;
  liveTaken(plan: string, audioMs: number): void;
};

/** What a session runs on, with a client or without. */
export type HeldRuntime = StorageRuntime & {
  slices: Slices;
  jobMetrics: JobMetrics;
  /** Null without a client. */
  liveMetrics: Pick<LiveMetrics, 'liveAcknowledged'> | null;
  journal: LiveJournal;
  /** Each end takes up to 2 MB: 300 sessions that ended within 5 s took 50 MB, and all connections to the database. */
  ends: Semaphore;
};

/** Why a job ends without its client's word. `other_format`: the audio is not what the session takes. */
export type EndReason = 'out_of_balance' | 'too_long' | 'idle' | 'other_format';

/**
 * Why a session cannot go on here. `lost`: another process has it, or its job has ended there. `away`: the database or
 * the engine. `failed`: a fault of the service, `cause`; `what` is its line of the log.
 */
export type Loss = { reason: 'lost' | 'away' } | { reason: 'failed'; cause: unknown; what: string };

/** Who is told of a session: the wire of its client. */
export type HeldUser = SessionEvents & {
  /** So many bytes are durable. */
  acknowledged?(offset: number): void;
  /** So many seconds are paid for; the session stops after them. */
  balanceLow?(secondsLeft: number): void;
  /** Resolves when the client has the segments that were stored before: the end of the job deletes them. */
  caughtUp?(): Promise<void>;
  /** The session stops here; its job goes on elsewhere, or has ended. */
  lost(loss: Loss): void;
  /** The job has ended. @param reason  null: by the word of its client, or without a client */
  ended(job: Job, reason: EndReason | null): void;
};

/**
 * A live session that this process has taken over, from then on until its job ends, or until the process does nothing
 * more for it: `SESSION_MOVES` has its phases. By itself it has no client, and decodes what is stored.
 */
export class HeldSession implements JournalSession, PayingSession {
  readonly job: ClaimedJob;
  /** As it was taken over. */
  readonly row: LiveRow;
  readonly entry: JournalEntry;
  readonly decoding: SessionDecoding;
  readonly audio: PaidAudio;
  readonly #runtime: HeldRuntime;
  readonly #engine: LiveEngine;
  readonly #user: HeldUser;
  readonly #over = new AbortController();
  #phase: SessionPhase = 'running';
  /** Why the audio is not what the session takes. */
  #refusal: string | null = null;

  constructor(runtime: HeldRuntime, { job, row }: TakenSession, engine: LiveEngine, user: HeldUser) {
    const { prompt, keywords, replacements } = job.options;
    const traceparent = job.traceparent ?? undefined;
    this.job = job;
    this.row = row;
    this.#runtime = runtime;
    this.#engine = engine;
    this.#user = user;
    this.entry = runtime.journal.open(this);
    this.decoding = new SessionDecoding({
      row,
      journal: this.entry,
      events: user,
      over: this.over,
      engine,
      openDecoder: () => engine.open({ language: job.language, prompt, keywords, traceparent, jobId: job.id }),
      edit: replacements ? openReplacer(replacements) : null,
      turn: () => runtime.slices.turn(job.accountId),
      onFailed: (cause) => this.fail(cause, 'a live session could not be read again'),
    });
    this.audio = new PaidAudio(runtime, this);
    if (row.durableBytes > 0) {
      this.decoding.replay().catch((cause: unknown) => this.fail(cause, 'a live session could not be continued'));
    }
  }

  is(...phases: SessionPhase[]): boolean {
    return phases.includes(this.#phase);
  }

  /** Aborts when the session is over: then nothing more is taken, decoded or written. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Tells the client that bytes are durable. */
  acknowledge(bytes: number, lagMs: number): void {
    this.#runtime.liveMetrics?.liveAcknowledged(lagMs);
    this.#user.acknowledged?.(bytes);
  }

  /** Takes audio that is paid for. */
  take(bytes: Uint8Array): void {
    this.decoding.write(bytes);
  }

  balanceLow(secondsLeft: number): void {
    this.#user.balanceLow?.(secondsLeft);
  }

  /**
   * No more audio is taken: everything is decoded, and the job ends.
   * @param reason  null: there is no more
   */
  async finish(reason: EndReason | null = null): Promise<void> {
    if (!this.is('running')) return;
    this.#move('finish');
    try {
      const why = (await this.audio.finish()) ?? reason;
      this.allTaken();
      await this.decoding.finish();
      await this.#user.caughtUp?.();
      if (!this.is('finishing')) return;
      this.#move('end');
      const ended = await this.#writeEnd(why);
      if (!this.is('ending')) return;
      if (ended === null) return this.lose('lost');
      this.#move('end');
      this.#user.ended(ended, why);
    } catch (cause) {
      this.fail(cause, 'a live session could not be ended');
    }
  }

  /** The audio is not what the session takes: its job fails, and costs nothing. */
  async refuse(refusal: string): Promise<void> {
    this.#refusal = refusal;
    await this.finish('other_format');
  }

  /**
   * The client is gone, or the process stops: another process may go on. Resolves when nothing more is done here; where
   * the end is written already, it is waited for.
   */
  async leave(): Promise<void> {
    if (!(await this.#flushAll())) {
      if (!isOver(this.#phase)) await new Promise((resolve) => this.over.addEventListener('abort', resolve));
      return;
    }
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

  /** A fault of the service. @param what  for the log */
  fail(cause: unknown, what: string): void {
    this.#lose({ reason: 'failed', cause, what });
  }

  /** Called when all audio is taken, and before all of it is decoded. */
  protected allTaken(): void {}

  /** What the job warns of, beside what was found in its audio. */
  protected warnings(): FoundWarning[] {
    return [{ code: 'connection_lost' }];
  }

  #lose(loss: Loss): void {
    if (isOver(this.#phase)) return;
    this.#move('lose');
    this.#user.lost(loss);
  }

  /** The only place where the phase changes. */
  #move(move: SessionMove): void {
    this.#phase = phaseAfter(this.#phase, move);
    if (isOver(this.#phase)) this.#over.abort(null);
  }

  /** Takes nothing more, and commits what came. False where the session ends, or is over. */
  async #flushAll(): Promise<boolean> {
    if (!this.is('running', 'finishing')) return false;
    this.#move('leave');
    await this.audio.settled();
    await this.entry.flush();
    return this.is('leaving');
  }

  async #writeEnd(reason: EndReason | null): Promise<Job | null> {
    const { job } = this;
    const { durable } = this.entry;
    const warnings = [...durable.warnings, ...this.warnings()];
    const isOutOfBalance = reason === 'out_of_balance';
    const end = { model: this.#engine.name, warnings, isOutOfBalance, refusal: this.#refusal };
    const again = { waits: 'the end of a live session', jobId: job.id, signal: this.over };
    return await retryWhileAway(this.#runtime, again, () =>
      this.#runtime.ends(() => endLiveJob(this.#runtime, { job, row: { ...this.row, ...durable } }, end)),
    );
  }
}
