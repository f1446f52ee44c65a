import type { Sql } from '../../db/database.ts';
import { makeId } from '../../platform/clock.ts';
import { eventBody } from './body.ts';
import type { EventData, EventType } from './event-types.ts';
import type { NewEvent } from './store.ts';
import { findSubscribers, insertDeliveries, insertEvent, notifyDeliveriesDue } from './store.ts';

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
 * Writes an event and one delivery for every webhook that is active and subscribed now, inside the caller's
 * transaction: the caller's changes, the event and its deliveries are committed together.
 * Returns the event's id. An event without subscribers is kept too, so that it can be recovered later.
 */
export async function emitEvent(tx: Sql, emission: Emission): Promise<string> {
  const subscribers = await findSubscribers(tx, {
    shard: emission.account.shard,
    accountId: emission.account.id,
    type: emission.type,
  });
  return await emitTo(tx, emission, subscribers);
}

/** Emits `webhook.test` to one webhook alone, whether or not it subscribes to it. Returns the event's id. */
export async function emitWebhookTest(
  tx: Sql,
  test: Pick<Emission, 'account' | 'now' | 'firstDelayMs'> & { webhook: { id: string } & Record<string, unknown> },
): Promise<string> {
  const emission: Emission = {
    ...test,
    type: 'webhook.test',
    jobId: null,
    data: { webhook: test.webhook },
    metadata: null,
  };
  return await emitTo(tx, emission, [test.webhook.id]);
}

async function emitTo(tx: Sql, emission: Emission, webhookIds: string[]): Promise<string> {
  const { account, type, jobId, data, metadata, now = null, firstDelayMs = 0 } = emission;
  const id = makeId('evt');
  const createdAt = now ?? new Date();
  const event: NewEvent = {
    shard: account.shard,
    id,
    accountId: account.id,
    type,
    jobId,
    body: eventBody({ id, type, createdAt, metadata, data }),
    createdAt,
  };
  await insertEvent(tx, event);
  if (webhookIds.length === 0) return id;
  const deliveries = webhookIds.map((webhookId) => ({ id: makeId('dl'), attemptId: makeId('dlv'), webhookId }));
  await insertDeliveries(tx, event, deliveries, { firstDelayMs, now });
  await notifyDeliveriesDue(tx, account.shard);
  return id;
}
