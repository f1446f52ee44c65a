import { creditRates } from '../../config/rates.ts';
import { logFailure } from '../../db/database.ts';
import { EngineAwayError } from '../../engines/presence/engine-presence.ts';
import { NO_TRACER } from '../../platform/tracing/tracer.ts';
import { faultOf } from '../../rules/fault.ts';
import type { WaitingFor } from '../../rules/jobs/job-state.ts';
import { costUnits } from '../../rules/jobs/price.ts';
import { endJob } from '../end/end.ts';
import type { RunningJob } from '../end/end-store.ts';
import { type Growth, growHold, openHold } from '../end/hold.ts';
import type { ClaimedJob, Job, Outcome } from '../job.ts';
import { type Claim, handBackJob, returnWaitingJob } from '../queue/lease-store.ts';
import type { AudioEraser } from '../retention/audio-eraser.ts';
import type { CompletionWaiter } from '../stream/completion-waiter.ts';
import { KeptPieces } from '../waiting/kept-pieces.ts';
import type { StoragePresence } from '../waiting/storage-presence.ts';
import { type LeaseKeeper, LeaseLostError } from '../work/lease-keeper.ts';
import { retryWhileAway } from '../work/retry-while-away.ts';
import { type Place, StopError } from '../work/work-loop.ts';
import type { PieceResult } from './join-pieces.ts';
import { openPartialResults, type PartialResults } from './partial-results.ts';
import { type LimitedEngine, type PipelineRuntime, runPipeline } from './pipeline.ts';
import type { TranscriberRuntime } from './transcriber-runtime.ts';

/** The job was canceled, or another worker ended it. */
class EndedElsewhereError extends Error {
  constructor() {
    super('the job ended without this worker');
    this.name = 'EndedElsewhereError';
  }
}

const MAX_ATTEMPTS = 3;

/** A job under way, as its lease is renewed. */
export type HeldJob = Claim & Pick<Job, 'progress'>;

/** What a transcriber runs on, with what its jobs share. */
type ExecutionRuntime = TranscriberRuntime & {
  completions: CompletionWaiter;
  leases: LeaseKeeper<HeldJob>;
  eraser: AudioEraser;
  storagePresence: StoragePresence;
};

/**
 * Executes a job that was claimed just now: renews its lease, transcribes it, writes its end and has its audio erased.
 * Hands the job back when the process stops. Rejects when the end could not be written;
 * the job is due again when its lease ends.
 */
export async function executeJob(
  job: ClaimedJob,
  limited: LimitedEngine,
  runtime: ExecutionRuntime,
  place: Place,
): Promise<void> {
  await new Execution(job, limited, runtime, place).run();
}

class Execution {
  readonly #job: ClaimedJob;
  readonly #limited: LimitedEngine;
  readonly #runtime: ExecutionRuntime;
  readonly #place: Place;
  readonly #claimedAtMs: number;
  readonly #rate: number;
  readonly #lost = new AbortController();
  readonly #signal: AbortSignal;
  readonly #partialResults: PartialResults;
  readonly #kept: KeptPieces<PieceResult>;
  /** Nothing was written to the job's row since the claim, but for its lease. */
  #isUnchanged = true;
  #progress = 0;

  constructor(job: ClaimedJob, limited: LimitedEngine, runtime: ExecutionRuntime, place: Place) {
    this.#job = job;
    this.#limited = limited;
    this.#runtime = runtime;
    this.#place = place;
    this.#claimedAtMs = runtime.clock.now();
    this.#rate = creditRates(runtime.config)[job.plan];
    this.#signal = AbortSignal.any([place.signal, this.#lost.signal]);
    this.#partialResults = openPartialResults(job, runtime);
    this.#kept = new KeptPieces(limited.engine.name);
  }

  async run(): Promise<void> {
    const job = this.#job;
    const { leases, log } = this.#runtime;
    const held = () => ({ shard: job.shard, id: job.id, lease: job.lease, progress: this.#progress });
    using _lease = leases.hold(held, (cause) => this.#lost.abort(cause));
    try {
      if (job.isLive) {
        await this.#runtime.endOrphan(job, this.#limited.engine, this.#runtime, this.#signal);
        return this.#eraseAudioIfDue();
      }
      const outcome = await this.#transcribe();
      this.#place.leave();
      this.#finish(await this.#writeEnd(outcome));
    } catch (cause) {
      if (cause instanceof StopError) return await this.#handBack();
      if (cause instanceof EngineAwayError) return await this.#wait('engine');
      if (faultOf(cause) === 'storage') {
        this.#runtime.storagePresence.failed(cause);
        return await this.#wait('storage');
      }
      if (cause instanceof EndedElsewhereError) return this.#stopAfterEnd();
      if (!(cause instanceof LeaseLostError)) throw cause;
      log.warn({ job_id: job.id, attempt: job.attempts }, 'a lease was lost; the result of this attempt is discarded');
    } finally {
      await this.#partialResults.close();
    }
  }

  async #transcribe(): Promise<Outcome> {
    const { engine } = this.#limited;
    if (this.#job.attempts > MAX_ATTEMPTS) {
      const message = `The transcription was begun ${MAX_ATTEMPTS} times and never came to its end.`;
      return { kind: 'failed', type: 'engine_error', message, model: engine.name };
    }
    const runtime = this.#pipelineRuntime();
    // Until the end is written, which this process would otherwise be told of as well.
    using completion = this.#runtime.completions.subscribe(this.#job);
    void completion.ended.then(() => this.#lost.abort(new EndedElsewhereError()));
    try {
      if (this.#job.lease > 1)
        await this.#retryWhileAway({ waits: 'the kept pieces of a job' }, () =>
          this.#kept.read(this.#runtime.db, this.#job),
        );
      return await this.#asSpan((traceparent) =>
        runPipeline(this.#job, this.#limited, { ...runtime, traceparent }, this.#signal),
      );
    } catch (cause) {
      this.#signal.throwIfAborted();
      if (cause instanceof EngineAwayError || faultOf(cause) === 'storage') throw cause;
      this.#runtime.log.error({ job_id: this.#job.id, err: cause }, 'a job failed by a fault of the service');
      const message = 'The transcription failed by a fault of the service. Send the audio again.';
      return { kind: 'failed', type: 'engine_error', message, model: engine.name };
    }
  }

  /** The transcription as a span of the trace of the job's request. */
  async #asSpan(work: (traceparent: string | null) => Promise<Outcome>): Promise<Outcome> {
    const { id, accountId, plan, attempts, traceparent: parent } = this.#job;
    const attributes = { job_id: id, account_id: accountId, plan, attempt: attempts };
    const span = (this.#runtime.tracer ?? NO_TRACER).start('job', { kind: 'internal', parent, attributes });
    try {
      const outcome = await work(span.traceparent);
      span.end({ outcome: outcome.kind }, outcome.kind === 'failed' ? outcome.type : null);
      return outcome;
    } catch (cause) {
      span.end({}, (cause as Partial<Error> | undefined)?.name ?? 'stopped');
      throw cause;
    }
  }

  #pipelineRuntime(): Omit<PipelineRuntime, 'traceparent'> {
    const job = this.#job;
    const rate = this.#rate;
    return {
      ...this.#runtime,
      kept: this.#kept,
      leavePlace: this.#place.leave,
      onProgress: (progress) => {
        this.#progress = progress;
      },
      extendHold: openHold(job, { rate, grow: (decodedUnits) => this.#growHold(decodedUnits) }),
      onPiece: (segments, { progress, transcribedMs, isWhole }) => {
        this.#progress = progress;
        // A piece that is all of the audio is stored with the end of the job.
        if (isWhole) return;
        this.#isUnchanged = false;
        this.#partialResults.add(segments, { progress, transcribedUnits: costUnits(transcribedMs, rate) });
      },
    };
  }

  async #growHold(decodedUnits: number): Promise<Exclude<Growth, { kind: 'lost' }>> {
    this.#isUnchanged = false;
    const growth = await this.#retryWhileAway({ waits: 'the hold of a job' }, () =>
      growHold(this.#runtime.db, this.#job, decodedUnits),
    );
    if (growth.kind !== 'lost') return growth;
    const cause = new LeaseLostError(this.#job.id);
    this.#lost.abort(cause);
    throw cause;
  }

  async #writeEnd(outcome: Outcome): Promise<Job> {
    // A failed job is charged for its stored pieces, so the last of them is stored first.
    if (outcome.kind === 'failed') await this.#partialResults.close();
    const ended = await this.#retryWhileAway({ waits: 'the end of a job' }, () =>
      endJob(this.#runtime, this.#job, outcome, this.#expected(outcome)),
    );
    if (ended === null) throw new LeaseLostError(this.#job.id);
    return ended;
  }

  /** The time is a little early: the claim took place before its answer arrived. */
  #expected(outcome: Outcome): RunningJob | null {
    // A failed job keeps its progress, which the renewal of the lease stores.
    if (!this.#isUnchanged || outcome.kind === 'failed') return null;
    const { heldUnits, transcribedUnits, progress, startedAt } = this.#job;
    const ranMs = Math.max(0, this.#runtime.clock.now() - this.#claimedAtMs);
    return { heldUnits, transcribedUnits, progress, moment: new Date(startedAt!.getTime() + ranMs) };
  }

  #retryWhileAway<Result>(away: { waits: string }, work: () => Promise<Result>): Promise<Result> {
    return retryWhileAway(this.#runtime, { ...away, jobId: this.#job.id, signal: this.#signal }, work);
  }

  #finish(job: Job): void {
    this.#runtime.jobMetrics.jobEnded(job);
    this.#eraseAudioIfDue();
  }

  /** The cancellation settled the job. Only the audio file, which was open here, remains. */
  #stopAfterEnd(): void {
    this.#runtime.log.info(
      { job_id: this.#job.id, attempt: this.#job.attempts },
      'the job was canceled, or ended by another worker; its execution stopped',
    );
    this.#eraseAudioIfDue();
  }

  #eraseAudioIfDue(): void {
    const { shard, id, audioKey } = this.#job;
    if (this.#runtime.config.audioRetentionHours > 0 || audioKey === null) return;
    this.#runtime.eraser.add({ shard, id, audioKey });
  }

  /** Returns the job to the queue with what is done of it: it is started again when what it waits for is there. */
  async #wait(waitingFor: WaitingFor): Promise<void> {
    const { db, log } = this.#runtime;
    const fields = { job_id: this.#job.id, waiting_for: waitingFor };
    try {
      // What can be read is charged if the job is canceled while it waits.
      await this.#partialResults.close();
      await this.#kept.store(db, this.#job);
      const returned = await returnWaitingJob(db, this.#job);
      log.info({ ...fields, returned, progress: this.#progress }, 'a job waits');
    } catch (err) {
      logFailure(log, err, 'returning a job that waits', fields);
    }
  }

  /**
   * Returns the job to the queue with what is done of it. While the database is away nobody waits for it: the lease
   * ends by itself.
   */
  async #handBack(): Promise<void> {
    const { db, log } = this.#runtime;
    const fields = { job_id: this.#job.id };
    try {
      // Of long audio this may be hours of work.
      await this.#partialResults.close();
      await this.#kept.store(db, this.#job);
      log.info({ ...fields, handed_back: await handBackJob(db, this.#job, null) }, 'a job was handed back');
    } catch (err) {
      logFailure(log, err, 'handing back a job', fields);
    }
  }
}
