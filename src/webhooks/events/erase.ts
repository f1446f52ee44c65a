import type { Sql } from '../../db/database.ts';
import { eventBody } from './body.ts';
import { findEventsOfJob, replaceEventBody } from './store.ts';

/**
 * Takes a job's content out of its events: from now on their bodies carry what is left of the job, and no metadata. The
 * one change that a body ever sees.
 * @param job  the job as it is shown, without what is to be forgotten
 */
export async function eraseEvents(
  tx: Sql,
  { shard, jobId, job }: { shard: number; jobId: string; job: Record<string, unknown> },
): Promise<void> {
  for (const event of await findEventsOfJob(tx, { shard, jobId })) {
    const body = eventBody({ ...event, metadata: null, data: { job } });
    await replaceEventBody(tx, { shard, id: event.id, body });
  }
}
