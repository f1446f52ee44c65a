import type { Database } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import { decodeCursor, pageFields, pageOf } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import {
  component,
  idSchema,
  nullable,
  oneOf,
  pageSchema,
  rawJson,
  type Static,
  Type,
  timeSchema,
} from '../../http/schema.ts';
import { RawJson } from '../../platform/json.ts';
import { isId } from '../../rules/ids.ts';
import { FAILURE_REASONS } from '../../rules/webhooks/delivery-outcome.ts';
import { EMITTED_TYPES } from './event-types.ts';
import { findEvent, type LoggedAttempt, listAttemptsOf, listEvents, type StoredEvent } from './log-store.ts';

const nullableMs = (description: string) => nullable(Type.Number({ minimum: 0 }), description);

export const DELIVERY_STATUSES = ['succeeded', 'failed', 'pending', 'dropped'] as const;

export const deliveryFields = {
  id: idSchema('dlv', 'dlv_01kamz2f3q8r5t7v9wxyzabcde'),
  webhook_id: idSchema('wh[ja]?', 'wh_01kamz2f3q8r5t7v9wxyzabcde'),
  event_id: idSchema('evt', 'evt_01kamz2f3q8r5t7v9wxyzabcde'),
  event_type: oneOf(EMITTED_TYPES),
  url: nullable(Type.String(), 'Null when the webhook is deleted and the attempt was never made.'),
  attempt: Type.Integer({ minimum: 1, description: '1 to 4.' }),
  status: oneOf(DELIVERY_STATUSES),
  response_status: nullable(Type.Integer(), 'The status line of the answer; null when none came.'),
  error: nullable(Type.Object({ reason: oneOf(FAILURE_REASONS), message: Type.String() })),
  duration_ms: nullableMs('From the start of name resolution to the end of the attempt.'),
  timings: Type.Object({
    dns_ms: nullableMs('Name resolution.'),
    connect_ms: nullableMs('TCP. Null for a phase that did not end, and on a connection that is used again.'),
    tls_ms: nullableMs('TLS.'),
    first_byte_ms: nullableMs('Up to the first byte of the answer.'),
    reused: Type.Boolean({
      description:
        'Whether the request was sent on the connection of an earlier attempt: connect_ms and tls_ms are null.',
    }),
  }),
  created_at: timeSchema,
  completed_at: nullable(timeSchema),
  next_attempt_at: nullable(timeSchema),
};
export const deliverySchema = Type.Object(deliveryFields, component('Delivery'));
export const deliveryListSchema = pageSchema('DeliveryList', deliverySchema);

const eventFields = {
  id: idSchema('evt', 'evt_01kamz2f3q8r5t7v9wxyzabcde'),
  type: oneOf(EMITTED_TYPES),
  job_id: nullable(idSchema('job', 'job_01kamz2f3q8r5t7v9wxyzabcde')),
  created_at: timeSchema,
};
const eventSchema = Type.Object(eventFields, component('Event'));
const eventListSchema = pageSchema('EventList', eventSchema);
const eventWithDeliveriesSchema = Type.Object(
  {
    ...eventFields,
    payload: rawJson<RawJson>({ type: 'object', description: 'The body as it is sent to webhooks.' }),
    deliveries: Type.Array(deliverySchema),
  },
  component('EventWithDeliveries'),
);

/** What was emitted: the list of an account's events, and one with its payload and its deliveries. */
export function eventRoutes({ db }: { db: Database }): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/events',
      auth: 'key',
      scope: 'webhooks:read',
      summary: 'List events, newest first',
      tag: 'Events',
      schema: {
        query: Type.Object({
          ...pageFields,
          type: Type.Optional(oneOf(EMITTED_TYPES)),
          job_id: Type.Optional(Type.String({ maxLength: 64, description: 'Events of this job.' })),
        }),
        answers: { 200: eventListSchema },
      },
      async handle({ account, query }) {
        const owner = { shard: account.shard, accountId: account.id };
        const beforeId = decodeCursor('evt', query.cursor);
        const filter = { type: query.type ?? null, jobId: query.job_id ?? null };
        const rows = await listEvents(db, owner, { ...filter, limit: query.limit + 1, beforeId });
        return { status: 200, body: pageOf(rows, query.limit, showEvent) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/events/:id',
      auth: 'key',
      scope: 'webhooks:read',
      summary: 'Read an event, its payload as it is sent, and its deliveries',
      tag: 'Events',
      schema: {
        params: Type.Object({ id: Type.String({ description: 'evt_…' }) }),
        answers: { 200: eventWithDeliveriesSchema },
      },
      async handle({ account, params: { id } }) {
        const { shard } = account;
        const event = isId('evt', id) ? await findEvent(db, { shard, accountId: account.id, id }) : null;
        if (event === null) throw new ApiError('not_found', 'There is no such event.');
        const attempts = await listAttemptsOf(db, { shard, id });
        const payload = new RawJson(event.body.toString('utf8'));
        return { status: 200, body: { ...showEvent(event), payload, deliveries: attempts.map(showAttempt) } };
      },
    }),
  ];
}

function showEvent(event: StoredEvent): Static<typeof eventSchema> {
  return { id: event.id, type: event.type, job_id: event.jobId, created_at: event.createdAt.toISOString() };
}

/**
 * What is sent goes to an address. A connection that was closed when it was used again may be followed by one that
 * fails.
 */
function isConnectionReused({ remoteAddress, connectMs, errorReason }: LoggedAttempt): boolean {
  return remoteAddress !== null && connectMs === null && errorReason !== 'connect';
}

/** An entry of the delivery log. */
export function showAttempt(entry: LoggedAttempt): Static<typeof deliverySchema> {
  return {
    id: entry.id,
    webhook_id: entry.webhookId,
    event_id: entry.eventId,
    event_type: entry.eventType,
    url: entry.url,
    attempt: entry.attempt,
    status: entry.status,
    response_status: entry.responseStatus,
    error: entry.errorReason === null ? null : { reason: entry.errorReason, message: entry.errorMessage ?? '' },
    duration_ms: entry.durationMs,
    timings: {
      dns_ms: entry.dnsMs,
      connect_ms: entry.connectMs,
      tls_ms: entry.tlsMs,
      first_byte_ms: entry.firstByteMs,
      reused: isConnectionReused(entry),
    },
    created_at: entry.createdAt.toISOString(),
    completed_at: entry.completedAt?.toISOString() ?? null,
    next_attempt_at: entry.nextAttemptAt?.toISOString() ?? null,
  };
}
