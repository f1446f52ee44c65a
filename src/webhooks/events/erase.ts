import type { Sql } from '../../db/database.ts';
import { eventBody } from './body.ts';
import { findEventsOfJob, replaceEventBody } from './store.ts';

/**
 * Removes a job's content and metadata from its events. Nothing else changes an event's body.
 * @param job  the job as the API shows it, without the erased content
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
