import type { Runtime } from '../../db/runtime.ts';
import { RowPass } from '../../db/statements/row-pass.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import type { WaitingFor } from '../../rules/jobs/job-state.ts';
import { endJob } from '../end/end.ts';
import type { JobMetrics } from '../job.ts';
import { claimJobs } from '../queue/queue-store.ts';
import { findWaitedTooLong } from '../waiting/wait-store.ts';

const LIMIT = 64;
const AWAY: Record<WaitingFor, string> = {
  engine: 'The speech engine did not work',
  model: 'There was no speech model',
  storage: 'The audio storage could not be reached',
};

/**
 * Fails the jobs that have waited for ENGINE_WAIT_HOURS for an engine or a storage that is away. Returns their number.
 */
export async function expireWaiting(runtime: Runtime & { jobMetrics: JobMetrics }): Promise<number> {
  const { db, config } = runtime;
  const hours = config.engineWaitHours;
  const pass = new RowPass();
  let expired = 0;
  for (;;) {
    const waited = await findWaitedTooLong(db, { hours, limit: LIMIT });
    if (waited.length === 0) break;
    const [{ moment, waitingFor }] = waited as [(typeof waited)[number]];
    const claim = { jobs: waited, holder: null, leaseMs: BOUNDS.leaseMs, moment, validMs: BOUNDS.claimValidMs };
    const claimed = await claimJobs(db, claim);
    await pass.each(claimed, async (job) => {
      const message = `${AWAY[waitingFor]} for ${hours} hours. Send the audio again later.`;
      const ended = await endJob(runtime, job, { kind: 'failed', type: 'engine_error', message, model: null });
      if (ended !== null) runtime.jobMetrics.jobEnded(ended);
      expired += 1;
    });
    // Others claimed all of them at this moment.
    if (claimed.length === 0) break;
  }
  pass.end();
  return expired;
}
