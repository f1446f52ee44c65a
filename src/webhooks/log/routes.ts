import type { Account } from '../../accounts/account.ts';
import type { Database } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { decodeCursor, pageFields, pageOf } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { component, nullable, oneOf, rawJson, type Static, Type } from '../../http/schema.ts';
import { readTimeRange, timeParameter } from '../../http/time-parameter.ts';
import { RawJson } from '../../platform/json.ts';
import { answerText } from '../../rules/webhooks/answer-text.ts';
import { FAILURE_REASONS } from '../../rules/webhooks/delivery-outcome.ts';
import { anyWebhookOr404, ownerOf } from '../endpoints/own-webhook.ts';
import { EMITTED_TYPES } from '../events/event-types.ts';
import { type LoggedAttempt, listEvents } from '../events/log-store.ts';
import { DELIVERY_STATUSES, deliveryFields, deliveryListSchema, showAttempt } from '../events/routes.ts';
import { type LoggedExchange, type LogScope, listAttempts, listPending } from './log-store.ts';
import { entryOr404, type ResendRuntime, resendRoutes } from './resend-routes.ts';

const webhookParams = Type.Object({ id: Type.String() });
const logQuery = Type.Object({
  ...pageFields,
  status: Type.Optional(oneOf(DELIVERY_STATUSES)),
  event_type: Type.Optional(oneOf(EMITTED_TYPES)),
  event_id: Type.Optional(Type.String({ maxLength: 100 })),
  job_id: Type.Optional(
    Type.String({ maxLength: 100, description: "Attempts of this job's event, to its own webhook and to all others." }),
  ),
  webhook_id: Type.Optional(Type.String({ maxLength: 100 })),
  reason: Type.Optional(oneOf(FAILURE_REASONS, { description: 'Why the attempt failed: `error.reason`.' })),
  status_class: Type.Optional(
    oneOf(['2xx', '3xx', '4xx', '5xx'], {
      description: "Of the answer's status; entries without an answer are left out.",
    }),
  ),
  attempt: Type.Optional(Type.Integer({ minimum: 1, maximum: 4 })),
  after: Type.Optional(timeParameter()),
  before: Type.Optional(timeParameter()),
});
const entryParams = Type.Object({ id: Type.String(), delivery_id: Type.String() });

const exchangeSchema = Type.Object(
  {
    ...deliveryFields,
    remote_address: nullable(Type.String(), 'The address that was connected to.'),
    request: nullable(
      Type.Object({ headers: rawJson<RawJson>({ type: 'object' }), body: nullable(Type.String()) }),
      'As it was sent; null when nothing was.',
    ),
    response: nullable(
      Type.Object({ headers: rawJson<RawJson>({ type: 'object' }), body: Type.String() }),
      'The headers and the first 4 KiB of the body; null when none came.',
    ),
  },
  component('DeliveryWithExchange'),
);
/** The delivery log, of one webhook and of all, and sending again. */
export function deliveryRoutes(runtime: ResendRuntime): Route[] {
  return [listAllDeliveries(runtime), listDeliveries(runtime), getDelivery(runtime), ...resendRoutes(runtime)];
}

function listAllDeliveries({ db }: Runtime): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/deliveries',
    auth: 'key',
    scope: 'webhooks:read',
    summary: 'List the delivery attempts of all webhooks, newest first',
    links: {
      get_webhooks_id_deliveries_delivery_id: {
        id: '$response.body#/data/0/webhook_id',
        delivery_id: '$response.body#/data/0/id',
      },
    },
    tag: 'Deliveries',
    schema: { query: logQuery, answers: { 200: deliveryListSchema } },
    async handle({ account, query }) {
      return { status: 200, body: await readPage(db, account, query, null) };
    },
  });
}

function listDeliveries({ db }: Runtime): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/webhooks/:id/deliveries',
    auth: 'key',
    scope: 'webhooks:read',
    summary: "List a webhook's delivery attempts, newest first",
    links: {
      get_webhooks_id_deliveries_delivery_id: { id: '$request.path.id', delivery_id: '$response.body#/data/0/id' },
    },
    tag: 'Deliveries',
    schema: {
      params: webhookParams,
      query: logQuery,
      answers: { 200: deliveryListSchema },
    },
    async handle({ account, params, query }) {
      const webhook = await anyWebhookOr404(db, account, params.id);
      return { status: 200, body: await readPage(db, account, query, webhook.id) };
    },
  });
}

/** @param webhookId  null for the log over all webhooks */
async function readPage(db: Database, account: Account, query: Static<typeof logQuery>, webhookId: string | null) {
  const wanted = query.webhook_id ?? webhookId;
  const eventId = await eventOf(db, account, query);
  if (wanted !== (webhookId ?? wanted) || eventId === 'none') return pageOf([], query.limit, showAttempt);
  const [after, before] = readTimeRange(['after', 'before'], query);
  const filter = {
    status: query.status ?? null,
    eventType: query.event_type ?? null,
    eventId,
    reason: query.reason ?? null,
    statusClass: query.status_class ? 100 * Number(query.status_class[0]) : null,
    attempt: query.attempt ?? null,
    after,
    before,
    limit: query.limit + 1,
    beforeId: decodeCursor('dlv', query.cursor),
  };
  const found: LoggedAttempt[] = [];
  for (const scope of scopesOf(account, wanted)) {
    // In this order: an attempt that ends in between is in both lists, and the recorded entry replaces the pending one.
    found.push(...(await listPending(db, scope, filter)), ...(await listAttempts(db, scope, filter)));
  }
  const entries = new Map(found.map((entry) => [entry.id, entry]));
  const newest = [...entries.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
  return pageOf(newest, query.limit, showAttempt);
}

function scopesOf(account: Account, webhookId: string | null): LogScope[] {
  const scope = { ...ownerOf(account), webhookId };
  return webhookId === null ? [scope, { ...scope, ofJobs: true }] : [scope];
}

/** The event whose entries are wanted; null: of any event. A job has one event at most. */
async function eventOf(
  db: Database,
  account: Account,
  query: Static<typeof logQuery>,
): Promise<string | 'none' | null> {
  const { event_id: eventId, job_id: jobId } = query;
  if (jobId === undefined) return eventId ?? null;
  const filter = { type: null, jobId, limit: 1, beforeId: null };
  const [event] = await listEvents(db, ownerOf(account), filter);
  return event && (eventId ?? event.id) === event.id ? event.id : 'none';
}

function getDelivery({ db }: Runtime): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/webhooks/:id/deliveries/:delivery_id',
    auth: 'key',
    scope: 'webhooks:read',
    summary: 'Read a delivery attempt with the request as sent and the answer',
    tag: 'Deliveries',
    schema: { params: entryParams, answers: { 200: exchangeSchema } },
    async handle({ account, params }) {
      return {
        status: 200,
        body: showExchange(
          await entryOr404(db, account, await anyWebhookOr404(db, account, params.id), params.delivery_id),
        ),
      };
    },
  });
}

/** The entry with the address that was sent to, the request as sent, and the answer's headers and first 4 KiB. */
function showExchange(entry: LoggedExchange) {
  const { requestHeaders, requestBody, responseHeaders, responseBody } = entry;
  const wasSent = requestHeaders !== null;
  return {
    ...showAttempt(entry),
    remote_address: entry.remoteAddress,
    request: wasSent ? { headers: new RawJson(requestHeaders), body: requestBody?.toString('utf8') ?? null } : null,
    response:
      responseHeaders === null
        ? null
        : {
            headers: readableHeaders(responseHeaders),
            body: answerText(responseBody ?? Buffer.alloc(0), responseHeaders),
          },
  };
}

/**
 * Entries of version 0.1.0 may hold text that is not JSON: an answer's headers were cleaned after they were serialised.
 */
function readableHeaders(text: string): RawJson {
  try {
    JSON.parse(text);
    return new RawJson(text);
  } catch {
    return new RawJson('{}');
  }
}
