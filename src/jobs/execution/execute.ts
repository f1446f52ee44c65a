import { StorageAwayError } from '../../audio/storage/storage.ts';
import { isDatabaseAway } from '../../db/database.ts';
import { costUnits } from '../../rules/jobs/price.ts';
import type { ClaimedJob, Job, Outcome } from '../job.ts';
import type { Leases } from '../queue/lease.ts';
import { LeaseLostError } from '../queue/lease.ts';
import { handBackJob } from '../queue/lease-store.ts';
import { eraseAudio } from '../retention/audio-sweep.ts';
import type { CompletionWaiter } from '../stream/completion-waiter.ts';
import type { EndDeps } from './end.ts';
import { endJob } from './end.ts';
import type { Cover } from './hold.ts';
import { growHold, openHold } from './hold.ts';
import { openPartialResults } from './partial-results.ts';
import type { LimitedEngine, PipelineDeps } from './pipeline.ts';
import { runPipeline } from './pipeline.ts';
import type { TranscriberDeps } from './transcriber-deps.ts';

/** The process stops: jobs under way go back to the queue. */
export class StopError extends Error {
  constructor() {
    super('the transcriber stops');
    this.name = 'StopError';
  }
}

/** The job ended without us: it was canceled, or another worker was faster. */
class EndedElsewhereError extends Error {
  constructor() {
    super('the job ended without this worker');
    this.name = 'EndedElsewhereError';
  }
}

const MAX_ATTEMPTS = 3;
// An audio that was accepted, or a transcript in hand, is worth waiting for a bucket or a database that is away; after
// an hour the one job fails, and the other is left to its lease.
const AWAY_RETRIES = { most: 720, delayMs: 5_000, firstDelayMs: 250 };

/** A claimed job's stay in this process: lease kept, work done, end written down, audio erased; or handed back. */
export async function executeJob(
  job: ClaimedJob,
  limited: LimitedEngine,
  deps: TranscriberDeps & { completions: CompletionWaiter; leases: Leases },
  stopSignal: AbortSignal,
): Promise<void> {
  const lost = new AbortController();
  const signal = AbortSignal.any([stopSignal, lost.signal]);
  let progress = 0;
  using _lease = deps.leases.hold(job, { progress: () => progress, onLost: (cause) => lost.abort(cause) });
  using watch = deps.completions.subscribe(job);
  void watch.ended.then(() => lost.abort(new EndedElsewhereError()));
  const partialResults = openPartialResults(job, deps);
  try {
    const rate = ratesOf(deps)[job.plan];
    const onPiece: PipelineDeps['onPiece'] = (piece, { transcribedMs, isWhole, ...reached }) => {
      progress = reached.progress;
      // A piece that is all of the audio is shown by the end of the job.
      if (!isWhole) partialResults.add(piece, { progress, transcribedUnits: costUnits(transcribedMs, rate) });
    };
    const cover = coverUnderLease(job, rate, deps, lost, signal);
    const outcome = await outcomeOf(
      job,
      limited,
      { ...deps, onPiece, cover, onWarning: warningsOf(job, deps) },
      signal,
    );
    // The end charges what could be read: every piece that was finished is stored before.
    if (outcome.kind === 'failed') await partialResults.close();
    const endDeps = { db: deps.db, rates: ratesOf(deps), firstDelayMs: deps.config.webhookRetryDelaysMs[0]! };
    const ended = await retryWhileAway(END_RETRY, () => endJob(endDeps, job, outcome), job, deps, signal);
    if (ended === null) throw new LeaseLostError(job.id);
    await afterEnd(ended, deps);
  } catch (cause) {
    if (cause instanceof StopError) return await handBack(job, deps);
    if (cause instanceof EndedElsewhereError) return await afterCancel(job, deps);
    if (!(cause instanceof LeaseLostError)) throw cause;
    deps.log.warn({ job_id: job.id, attempt: job.attempts }, 'a lease was lost; what was found out is thrown away');
  } finally {
    await partialResults.close();
  }
}

function warningsOf(job: ClaimedJob, { log }: TranscriberDeps): NonNullable<PipelineDeps['onWarning']> {
  return ({ code, startSeconds, endSeconds }) =>
    log.warn(
      { job_id: job.id, code, start_seconds: startSeconds, end_seconds: endSeconds },
      'the text of a piece may lack its end',
    );
}

async function outcomeOf(
  job: ClaimedJob,
  limited: LimitedEngine,
  deps: TranscriberDeps & Pick<PipelineDeps, 'onPiece' | 'onWarning' | 'cover'>,
  signal: AbortSignal,
): Promise<Outcome> {
  if (job.attempts > MAX_ATTEMPTS) {
    const message = `The transcription was begun ${MAX_ATTEMPTS} times and never came to its end.`;
    return { kind: 'failed', type: 'engine_error', message, model: limited.engine.name };
  }
  const pipelineDeps = { ...deps, maxAudioSeconds: deps.config.maxAudioSeconds };
  try {
    return await retryWhileAway(
      STORAGE_RETRY,
      () => runPipeline(job, limited, pipelineDeps, signal),
      job,
      deps,
      signal,
    );
  } catch (cause) {
    signal.throwIfAborted();
    deps.log.error({ job_id: job.id, err: cause }, 'a job failed by a fault of the service');
    const message = 'The transcription failed by a fault of the service. Send the audio again.';
    return { kind: 'failed', type: 'engine_error', message, model: limited.engine.name };
  }
}

type AwayRetry = { isAway: (cause: unknown) => boolean; message: string };

const STORAGE_RETRY: AwayRetry = {
  isAway: (cause) => cause instanceof StorageAwayError,
  message: 'audio storage away; a job waits',
};
const HOLD_RETRY: AwayRetry = { isAway: isDatabaseAway, message: 'database away; the hold of a job waits' };
const END_RETRY: AwayRetry = { isAway: isDatabaseAway, message: 'database away; the end of a job waits' };

/** Tries again while the storage or the database is away. The work may be done twice: a fence or a lock tells. */
async function retryWhileAway<Result>(
  { isAway, message }: AwayRetry,
  work: () => Promise<Result>,
  job: ClaimedJob,
  { clock, log }: TranscriberDeps,
  signal: AbortSignal,
): Promise<Result> {
  for (let retry = 0; ; retry++) {
    // The first try is made even at a stop: a transcript in hand is a matter of milliseconds.
    if (retry > 0) signal.throwIfAborted();
    try {
      return await work();
    } catch (cause) {
      if (!isAway(cause) || retry >= AWAY_RETRIES.most) throw cause;
      log.warn({ job_id: job.id, err: cause }, message);
      await clock.sleep(retry === 0 ? AWAY_RETRIES.firstDelayMs : AWAY_RETRIES.delayMs, signal);
    }
  }
}

/** A job that ended elsewhere, or was taken over, holds nothing more: the work on it is aborted. */
function coverUnderLease(
  job: ClaimedJob,
  rate: number,
  deps: TranscriberDeps,
  lost: AbortController,
  signal: AbortSignal,
): Cover {
  return openHold(job, {
    rate,
    async grow(decodedUnits) {
      const grow = () => growHold(deps.db, job, decodedUnits);
      const growth = await retryWhileAway(HOLD_RETRY, grow, job, deps, signal);
      if (growth.kind !== 'lost') return growth;
      const cause = new LeaseLostError(job.id);
      lost.abort(cause);
      throw cause;
    },
  });
}

function ratesOf({ config }: TranscriberDeps): EndDeps['rates'] {
  return { lite: config.creditRateLite, pro: config.creditRatePro };
}

async function afterEnd(job: Job, deps: TranscriberDeps): Promise<void> {
  deps.log.info(
    {
      job_id: job.id,
      account_id: job.accountId,
      plan: job.plan,
      model: job.model,
      state: job.state,
      error_type: job.errorType,
      attempt: job.attempts,
      audio_ms: job.durationMs,
      waited_ms: job.startedAt!.getTime() - job.createdAt.getTime(),
      ran_ms: job.completedAt!.getTime() - job.startedAt!.getTime(),
    },
    'job',
  );
  deps.metrics?.jobEnded(job);
  await eraseIfDue(job, deps);
}

/** Whoever ended the job settled it; here only the file that was open remains. */
async function afterCancel(job: ClaimedJob, deps: TranscriberDeps): Promise<void> {
  deps.log.info({ job_id: job.id, attempt: job.attempts }, 'work stopped: the job was canceled');
  await eraseIfDue(job, deps);
}

async function eraseIfDue(job: Job, deps: TranscriberDeps): Promise<void> {
  if (deps.config.audioRetentionHours > 0 || job.audioKey === null) return;
  await eraseAudio(deps, { ...job, audioKey: job.audioKey }).catch((cause: unknown) => {
    deps.log.warn({ job_id: job.id, err: cause }, 'audio is left for the sweep to erase');
  });
}

async function handBack(job: ClaimedJob, { db, log }: TranscriberDeps): Promise<void> {
  const isBack = await handBackJob(db, job, null);
  log.info({ job_id: job.id, handed_back: isBack }, 'a job was given back');
}
