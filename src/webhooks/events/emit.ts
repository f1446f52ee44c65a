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
  return (await emit(tx, emission, null)).id;
}

/**
 * Emits a test to one webhook alone, whether or not it subscribes to the type. Returns the event's id; null when the
 * webhook is not active, or is gone.
 */
export async function emitTest(
  sql: Sql,
  { webhookId, ...test }: Omit<Emission, 'jobId'> & { webhookId: string },
): Promise<string | null> {
  const { id, deliveries } = await emit(sql, { ...test, jobId: null }, webhookId);
  return deliveries > 0 ? id : null;
}

/** @param webhookId  null for all subscribers */
async function emit(
  sql: Sql,
  emission: Emission,
  webhookId: string | null,
): Promise<{ id: string; deliveries: number }> {
  const { now = null, firstDelayMs = 0 } = emission;
  const event = composeEvent(emission);
  const deliveries = await insertEvent(sql, event, { webhookId, firstDelayMs, now });
  if (deliveries > 0) notifyDeliveriesDue(sql, event.shard);
  return { id: event.id, deliveries };
}

/** An event with a new id and its body, for a statement that inserts it together with other changes. */
export function composeEvent({ account, type, jobId, data, metadata, now = null }: Emission): NewEvent {
  const id = makeId('evt');
  const createdAt = now ?? new Date();
  const body = eventBody({ id, type, createdAt, metadata, data });
  return { shard: account.shard, id, accountId: account.id, type, jobId, body, createdAt };
}
