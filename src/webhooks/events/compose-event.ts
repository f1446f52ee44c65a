import { makeId } from '../../platform/clock.ts';
import { eventIdOfJob, isId } from '../../rules/ids.ts';
import { eventBody } from './body.ts';
import type { EmittedType, EventData } from './event-types.ts';
import type { NewEvent } from './store.ts';

type Emission = {
  account: { id: string; shard: number };
  type: EmittedType;
  jobId: string | null;
  data: EventData;
  /** The client's JSON text, echoed as it stands; null when the request carried none. */
  metadata: string | null;
  /** Of the job; null or absent: none. */
  traceparent?: string | null;
  /** Null or absent: the clock of the process. */
  now?: Date | null;
};

/**
 * An event with its id, which follows from its job, and its body, for a statement that inserts it together with other
 * changes.
 */
export function composeEvent(emission: Emission): NewEvent {
  const { account, type, jobId, data, metadata, traceparent = null, now = null } = emission;
  const id = jobId !== null && isId('job', jobId) ? eventIdOfJob(jobId, type) : makeId('evt');
  const createdAt = now ?? new Date();
  const body = eventBody({ id, type, createdAt, metadata, data });
  return { shard: account.shard, id, accountId: account.id, type, jobId, body, createdAt, traceparent };
}
