import { createHash } from 'node:crypto';
import type { Sql } from '../db/database.ts';
import { countFitting } from '../db/statements/page-bytes.ts';
import { type ChangedJob, listJobsChangedAfter } from '../jobs/stream/change-store.ts';
import { showJobInList } from '../jobs/view.ts';
import type { PlanWaits } from '../jobs/waiting/plan-waits.ts';
import type { AccountRef } from '../rules/shard.ts';
import { showAttempt } from '../webhooks/events/routes.ts';
import { type EventHead, findEventBodies, listEventsAfter } from '../webhooks/events/stream-store.ts';
import { listAttemptsAfter, type RecordedAttempt } from '../webhooks/log/stream-store.ts';
import type { Frame, Source } from './source.ts';

// Bodies that are read at once. One body has at most 256 KiB.
const BODIES_BYTES = 256 * 1024;

/** The account's events as they are sent to webhooks. @param types  null: all */
export function eventSource(sql: Sql, owner: AccountRef, types: readonly string[] | null): Source<EventHead> {
  return {
    name: `events ${owner.accountId} ${types}`,
    page: (after, limit) => listEventsAfter(sql, owner, { after, types: types as EventHead['type'][] | null, limit }),
    keyOf: ({ id }) => id,
    async *frames(rows) {
      for (const group of groupsOf(rows)) {
        const found = await findEventBodies(
          sql,
          owner,
          group.map(({ id }) => id),
        );
        const bodies = new Map(found.map(({ id, body }) => [id, body]));
        for (const row of group) {
          const body = bodies.get(row.id);
          if (body) yield { row, frame: { event: 'event', id: row.id, data: eventData(row, row.atMs, body) } };
        }
      }
    },
  };
}

/** The account's jobs, each time that their state changes. */
export function jobSource(sql: Sql, owner: AccountRef, waits: PlanWaits): Source<ChangedJob> {
  return {
    name: `jobs ${owner.accountId}`,
    page: (after, limit) => listJobsChangedAfter(sql, owner, { after, limit }),
    countOfPage: countFitting,
    keyOf: ({ id, state, lease }) => `${id} ${state} ${lease}`,
    async *frames(rows) {
      for (const row of await waits.addTo(rows)) {
        yield { row, frame: { event: 'job', id: null, data: showJobInList(row) } };
      }
    },
  };
}

export type AttemptWish = {
  /** Report every attempt. */
  deliveries: boolean;
  /** Report events that are sent again. */
  resends: boolean;
  /** Of the events that are sent again; null: all. */
  types: readonly string[] | null;
};

/** The attempts that were made, and the events that are sent again. */
export function attemptSource(sql: Sql, owner: AccountRef, wish: AttemptWish): Source<RecordedAttempt> {
  const isResend = (row: RecordedAttempt) =>
    wish.resends && row.isResend && (wish.types === null || wish.types.includes(row.eventType));
  return {
    name: `attempts ${owner.accountId} ${wish.deliveries}`,
    page: (after, limit) => listAttemptsAfter(sql, owner, { after, onlyResends: !wish.deliveries, limit }),
    keyOf: ({ id }) => id,
    async *frames(rows) {
      for (const row of rows) {
        if (isResend(row)) {
          const frame = await resendFrame(sql, owner, row);
          if (frame) yield { row, frame };
        }
        if (wish.deliveries) yield { row, frame: { event: 'delivery', id: null, data: showAttempt(row) } };
      }
    },
  };
}

/** Null when the event is no longer kept. */
async function resendFrame(sql: Sql, owner: AccountRef, row: RecordedAttempt): Promise<Frame | null> {
  const [found] = await findEventBodies(sql, owner, [row.eventId]);
  if (!found) return null;
  const { created_at: createdAt } = JSON.parse(found.body.toString()) as { created_at: string };
  const event = { id: row.eventId, type: row.eventType };
  const data = {
    ...eventData(event, Date.parse(createdAt), found.body),
    webhook_id: row.webhookId,
    delivery_id: row.id,
  };
  return { event: 'resend', id: null, data };
}

function eventData({ id, type }: { id: string; type: string }, createdAtMs: number, body: Buffer) {
  return {
    id,
    type,
    created_at: new Date(createdAtMs).toISOString(),
    sha256: createHash('sha256').update(body).digest('hex'),
    // A string: metadata may contain line ends, which server-sent events would change.
    body: body.toString('utf8'),
  };
}

/** The rows in groups whose bodies are at most BODIES_BYTES together, or one body. */
function groupsOf(rows: EventHead[]): EventHead[][] {
  const groups: EventHead[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    bytes += row.sizeBytes;
    if (bytes > BODIES_BYTES) {
      groups.push([]);
      bytes = row.sizeBytes;
    }
    groups.at(-1)!.push(row);
  }
  return groups;
}
