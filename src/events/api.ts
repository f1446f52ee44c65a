import type { Database } from '../db/sql.ts';
import { ApiError } from '../errors.ts';
import { decodeCursor, pageFields, pageOf } from '../http/page.ts';
import type { Route } from '../http/route.ts';
import { defineRoute } from '../http/route.ts';
import { Type } from '../http/schema.ts';
import { RawJson } from '../json.ts';
import { isId } from '../rules/ids.ts';
import { EVENT_TYPES } from './catalogue.ts';
import type { LoggedAttempt, StoredEvent } from './log-store.ts';
import { findEvent, listAttemptsOf, listEvents } from './log-store.ts';

/** What was emitted: the list of an account's events, and one with its payload and its deliveries. */
export function eventRoutes({ db }: { db: Database }): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/events',
      auth: 'key',
      summary: 'List events, newest first',
      tag: 'Events',
      schema: {
        query: Type.Object({
          ...pageFields,
          type: Type.Optional(Type.Union(EVENT_TYPES.map((type) => Type.Literal(type)))),
        }),
      },
      async handle({ account, query }) {
        const owner = { lane: account.lane, accountId: account.id };
        const beforeId = decodeCursor('evt', query.cursor);
        const rows = await listEvents(db, owner, { type: query.type ?? null, limit: query.limit + 1, beforeId });
        return { status: 200, body: pageOf(rows, query.limit, showEvent) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/events/:id',
      auth: 'key',
      summary: 'Read an event, its payload as it is sent, and its deliveries',
      tag: 'Events',
      schema: { params: Type.Object({ id: Type.String({ description: 'evt_…' }) }) },
      async handle({ account, params: { id } }) {
        const { lane } = account;
        const event = isId('evt', id) ? await findEvent(db, { lane, accountId: account.id, id }) : null;
        if (event === null) throw new ApiError('not_found', 'There is no such event.');
        const attempts = await listAttemptsOf(db, { lane, id });
        const payload = new RawJson(event.body.toString('utf8'));
        return { status: 200, body: { ...showEvent(event), payload, deliveries: attempts.map(showAttempt) } };
      },
    }),
  ];
}

function showEvent(event: StoredEvent) {
  return { id: event.id, type: event.type, job_id: event.jobId, created_at: event.createdAt.toISOString() };
}

/** An entry of the delivery log. */
export function showAttempt(entry: LoggedAttempt) {
  return {
    id: entry.id,
    webhook_id: entry.webhookId,
    event_id: entry.eventId,
    event_type: entry.eventType,
    url: entry.url,
    attempt: entry.attempt,
    status: entry.status,
    response_status: entry.responseStatus,
    error: entry.errorReason === null ? null : { reason: entry.errorReason, message: entry.errorMessage },
    duration_ms: entry.durationMs,
    timings: {
      dns_ms: entry.dnsMs,
      connect_ms: entry.connectMs,
      tls_ms: entry.tlsMs,
      first_byte_ms: entry.firstByteMs,
    },
    created_at: entry.createdAt.toISOString(),
    completed_at: entry.completedAt?.toISOString() ?? null,
    next_attempt_at: entry.nextAttemptAt?.toISOString() ?? null,
  };
}
