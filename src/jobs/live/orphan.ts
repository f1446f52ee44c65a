import type { StorageRuntime } from '../../audio/storage/storage.ts';
import type { Engine } from '../../engines/engine.ts';
import { agreementEngine } from '../../engines/live/agreement-engine.ts';
import type { VoiceDetector } from '../../engines/vad/vad.ts';
import { Slices } from '../../platform/slices.ts';
import type { ClaimedJob, Job, JobMetrics } from '../job.ts';
import { LeaseLostError } from '../work/lease-keeper.ts';
import { retryWhileAway } from '../work/retry-while-away.ts';
import { endLiveJob } from './end-live.ts';
import { LiveJournal } from './rows/journal.ts';
import { editOf } from './rows/live-segment.ts';
import { findLiveSession, takeLiveSession } from './rows/live-store.ts';
import { LiveSession, segmentationFor } from './session.ts';

type OrphanRuntime = StorageRuntime & { metrics?: JobMetrics; detector?: VoiceDetector | null; slices?: Slices };

/**
 * Ends the job of a live session whose client did not come back, from what is stored: decodes the audio after the last
 * segment as the session would have done. While the database is away it waits.
 * @throws LeaseLostError   when a client has come back after all
 * @throws EngineAwayError  when the engine does not work: what is decoded is kept, and the job has to wait
 */
export async function endOrphan(
  job: ClaimedJob,
  engine: Engine,
  runtime: OrphanRuntime,
  signal: AbortSignal,
): Promise<Job> {
  const away = { waits: 'the end of a live session', jobId: job.id, signal };
  return await retryWhileAway(runtime, away, () => endOnce(job, engine, runtime, signal));
}

async function endOnce(job: ClaimedJob, engine: Engine, runtime: OrphanRuntime, signal: AbortSignal): Promise<Job> {
  const { db, clock } = runtime;
  // An earlier try may have taken it.
  const row = (await db.transaction((tx) => takeLiveSession(tx, job, false))) ?? (await findLiveSession(db, job));
  if (row?.lease !== job.lease) throw new LeaseLostError(job.id);
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const entry = new LiveJournal(runtime).open({
    row,
    wordTimes: job.wordTimes,
    onDurable: () => undefined,
    onLost: () => failed.reject(new LeaseLostError(job.id)),
    onFailed: (cause) => failed.reject(cause),
  });
  const { slices = new Slices() } = runtime;
  const live = agreementEngine(engine, {
    clock,
    sessions: 1,
    detector: runtime.detector ?? null,
    // The job waits in the queue instead.
    whileAway: 'fail',
  });
  const session = new LiveSession({
    format: row.options,
    segmentation: segmentationFor(live, row.options),
    position: { frame: row.frame, isSpeaking: row.isSpeaking },
    receivedBytes: row.durableBytes,
    nextNumber: row.segments + 1,
    journal: entry,
    openDecoder: () => live.open({ language: job.language, jobId: job.id }),
    turn: () => slices.turn(job.accountId),
    edit: editOf(job),
    onFailed: (cause) => failed.reject(cause),
    events: {},
  });
  const stop = () => failed.reject(signal.reason);
  signal.addEventListener('abort', stop);
  try {
    if (row.durableBytes > 0) await Promise.race([session.replay(), failed.promise]);
    await Promise.race([session.finish(), failed.promise]);
    const known = (await findLiveSession(db, job)) ?? row;
    const end = { model: engine.name, warnings: [...entry.warnings, { code: 'connection_lost' as const }] };
    const ended = await endLiveJob({ ...runtime, slices }, { job, row: known }, end);
    if (ended === null) throw new LeaseLostError(job.id);
    return ended;
  } finally {
    signal.removeEventListener('abort', stop);
    session.close();
    entry.close();
  }
}
