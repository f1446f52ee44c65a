import { PIECE_MAX_SECONDS } from '../audio/cut.ts';
import { StorageAwayError } from '../audio/storage.ts';
import { isDatabaseAway } from '../db/sql.ts';
import type { EndDeps } from './end.ts';
import { endJob } from './end.ts';
import type { JobEndings } from './endings.ts';
import type { ClaimedJob, Job, Outcome } from './job.ts';
import type { Leases } from './lease.ts';
import { LeaseLostError } from './lease.ts';
import { handBackJob } from './lease-store.ts';
import { openPreview } from './preview.ts';
import type { GatedEngine, RunDeps } from './run.ts';
import { runJob } from './run.ts';
import { eraseAudio } from './sweep.ts';
import type { TranscriberDeps } from './worker.ts';

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
export async function workOn(
  job: ClaimedJob,
  gated: GatedEngine,
  deps: TranscriberDeps & { endings: JobEndings; leases: Leases },
  stopSignal: AbortSignal,
): Promise<void> {
  const lost = new AbortController();
  const signal = AbortSignal.any([stopSignal, lost.signal]);
  let progress = 0;
  using _lease = deps.leases.hold(job, { progress: () => progress, onLost: (cause) => lost.abort(cause) });
  using watch = deps.endings.watch(job);
  void watch.ended.then(() => lost.abort(new EndedElsewhereError()));
  const preview = openPreview(job, deps);
  try {
    const onPiece: RunDeps['onPiece'] = (piece, fraction) => {
      progress = fraction;
      // A piece that is all of the audio is shown by the end of the job.
      if (job.durationMs > PIECE_MAX_SECONDS * 1000) preview.add(piece, fraction);
    };
    const onWarning: RunDeps['onWarning'] = ({ code, startSeconds, endSeconds }) =>
      deps.log.warn(
        { job_id: job.id, code, start_seconds: startSeconds, end_seconds: endSeconds },
        'the text of a piece may lack its end',
      );
    const outcome = await outcomeOf(job, gated, { ...deps, onPiece, onWarning }, signal);
    const ended = await endPatiently(job, outcome, deps, signal);
    if (ended === null) throw new LeaseLostError(job.id);
    await afterEnd(ended, deps);
  } catch (cause) {
    if (cause instanceof StopError) return await handBack(job, deps);
    if (cause instanceof EndedElsewhereError) return await afterCancel(job, deps);
    if (!(cause instanceof LeaseLostError)) throw cause;
    deps.log.warn({ job_id: job.id, attempt: job.attempts }, 'a lease was lost; what was found out is thrown away');
  } finally {
    await preview.close();
  }
}

async function outcomeOf(
  job: ClaimedJob,
  gated: GatedEngine,
  deps: TranscriberDeps & Pick<RunDeps, 'onPiece' | 'onWarning'>,
  signal: AbortSignal,
): Promise<Outcome> {
  if (job.attempts > MAX_ATTEMPTS) {
    const message = `The transcription was begun ${MAX_ATTEMPTS} times and never came to its end.`;
    return { kind: 'failed', type: 'engine_error', message, model: gated.engine.name };
  }
  const runDeps = { ...deps, maxAudioSeconds: deps.config.maxAudioSeconds };
  try {
    return await runPatiently(job, gated, runDeps, signal);
  } catch (cause) {
    signal.throwIfAborted();
    deps.log.error({ job_id: job.id, err: cause }, 'a job failed by a fault of the service');
    const message = 'The transcription failed by a fault of the service. Send the audio again.';
    return { kind: 'failed', type: 'engine_error', message, model: gated.engine.name };
  }
}

/** Tries again while the audio cannot be fetched: that is before any of the work. */
async function runPatiently(
  job: ClaimedJob,
  gated: GatedEngine,
  deps: TranscriberDeps & RunDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  for (let retry = 0; ; retry++) {
    try {
      return await runJob(job, gated, deps, signal);
    } catch (cause) {
      if (!(cause instanceof StorageAwayError) || retry >= AWAY_RETRIES.most) throw cause;
      deps.log.warn({ job_id: job.id, err: cause }, 'audio storage away; a job waits');
      await deps.clock.sleep(retry === 0 ? AWAY_RETRIES.firstDelayMs : AWAY_RETRIES.delayMs, signal);
      signal.throwIfAborted();
    }
  }
}

/** Tries again while the database is away; whether an answer that was lost had been a commit, the fence tells. */
async function endPatiently(
  job: ClaimedJob,
  outcome: Outcome,
  deps: TranscriberDeps,
  signal: AbortSignal,
): Promise<Job | null> {
  for (let retry = 0; ; retry++) {
    // The first try is made even at a stop: a transcript in hand is a matter of milliseconds.
    if (retry > 0) signal.throwIfAborted();
    try {
      return await endJob(endDeps(deps), job, outcome);
    } catch (cause) {
      if (!isDatabaseAway(cause) || retry >= AWAY_RETRIES.most) throw cause;
      deps.log.warn({ job_id: job.id, err: cause }, 'database away; the end of a job waits');
      await deps.clock.sleep(retry === 0 ? AWAY_RETRIES.firstDelayMs : AWAY_RETRIES.delayMs, signal);
    }
  }
}

function endDeps({ db, config }: TranscriberDeps): EndDeps {
  const rates = { lite: config.creditRateLite, pro: config.creditRatePro };
  return { db, rates, firstDelayMs: config.webhookRetryDelaysMs[0]! };
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
