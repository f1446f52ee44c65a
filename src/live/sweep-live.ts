import { type ControlRuntime, cancelQueuedJob } from '../jobs/api/control.ts';
import { findIdleSessions } from '../jobs/live/live-store.ts';
import { eraseSession } from './session/end-live.ts';

/**
 * Cancels live jobs that no client connected to in time, and deletes what is left of sessions that have ended: that of
 * a canceled one the next time. Returns how many there were.
 */
export async function sweepLiveSessions(runtime: ControlRuntime): Promise<number> {
  const idle = await findIdleSessions(runtime.db);
  for (const { isEnded, ...key } of idle) {
    if (isEnded) await eraseSession(runtime.db, key);
    else await cancelQueuedJob(runtime, key);
  }
  return idle.length;
}
