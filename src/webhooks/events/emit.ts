import type { Sql } from '../../db/database.ts';
import { makeId } from '../../platform/clock.ts';
import { eventBody } from './body.ts';
import type { EventData, EventType } from './event-types.ts';
import type { NewEvent } from './store.ts';
import { insertEvent, notifyDeliveriesDue } from './store.ts';

type Emission = {
  account: { id: string; shard: number };
  type: EventType;
  jobId: string | null;
  data: EventData;
  /** The client's JSON text, echoed as it stands; null when the request carried none. */
  metadata: string | null;
  /** Null or absent: the clocks of the process and of the database. */
  now?: Date | null;
  /** The wait before the first attempt (WEBHOOK_RETRY_DELAYS). */
  firstDelayMs?: number;
};

/**
 * Writes an event and one delivery for every webhook that is active and subscribed now, in one statement, and notifies the
 * deliverers. In the caller's transaction: its changes, the event and the deliveries are committed together.
 * Returns the event's id. An event without subscribers is kept too, so that it can be recovered later.
 */
export async function emitEvent(tx: Sql, emission: Emission): Promise<string> {
  const { now = null, firstDelayMs = 0 } = emission;
  const event = composeEvent(emission);
  const deliveries = await insertEvent(tx, event, { firstDelayMs, now });
  if (deliveries > 0) notifyDeliveriesDue(tx, event.shard);
  return event.id;
}

/** An event with a new id and its body, for a statement that inserts it together with other changes. */
export function composeEvent({ account, type, jobId, data, metadata, now = null }: Emission): NewEvent {
  const id = makeId('evt');
  const createdAt = now ?? new Date();
  const body = eventBody({ id, type, createdAt, metadata, data });
  return { shard: account.shard, id, accountId: account.id, type, jobId, body, createdAt };
}
