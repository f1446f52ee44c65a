import { agreementEngine } from '../../engines/live/agreement-engine.ts';
import type { EndOrphan } from '../../jobs/execution/transcriber-runtime.ts';
import type { Job } from '../../jobs/job.ts';
import { findLiveSession, takeLiveSession } from '../../jobs/live/live-store.ts';
import { LeaseLostError } from '../../jobs/work/lease-keeper.ts';
import { retryWhileAway } from '../../jobs/work/retry-while-away.ts';
import { openSemaphore } from '../../platform/semaphore.ts';
import { Slices } from '../../platform/slices.ts';
import { HeldSession } from './held-session.ts';
import { LiveJournal } from './journal.ts';

/**
 * Ends the job of a live session whose client did not come back, from what is stored: decodes the audio after the last
 * segment as the session would have done. While the database is away it waits.
 * @throws LeaseLostError   when a client has come back after all
 * @throws EngineAwayError  when the engine does not work: what is decoded is kept, and the job has to wait
 */
export const endOrphan: EndOrphan = async (job, engine, runtime, signal) => {
  const { db, clock, detector = null, slices = new Slices() } = runtime;
  const away = { waits: 'the end of a live session', jobId: job.id, signal };
  // An earlier try may have taken it.
  const row = await retryWhileAway(
    runtime,
    away,
    async () => (await db.transaction((tx) => takeLiveSession(tx, job, false))) ?? (await findLiveSession(db, job)),
  );
  if (row?.lease !== job.lease) throw new LeaseLostError(job.id);
  // The job waits in the queue while the engine is away.
  const live = agreementEngine(engine, { clock, sessions: 1, detector, whileAway: 'fail' });
  const held = { ...runtime, liveMetrics: null, slices, ends: openSemaphore(1), journal: new LiveJournal(runtime) };
  const ended = Promise.withResolvers<Job>();
  const session = new HeldSession(held, { job, row }, live, {
    lost: (loss) => ended.reject(loss.reason === 'failed' ? loss.cause : new LeaseLostError(job.id)),
    ended: ended.resolve,
  });
  const stop = () => {
    session.abandon();
    ended.reject(signal.reason);
  };
  signal.addEventListener('abort', stop);
  try {
    void session.finish();
    return await ended.promise;
  } finally {
    signal.removeEventListener('abort', stop);
  }
};
