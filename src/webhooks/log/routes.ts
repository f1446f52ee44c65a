import type { Account } from '../../accounts/account.ts';
import type { Database, Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import { decodeCursor, pageFields, pageOf } from '../../http/pagination.ts';
import type { Route } from '../../http/route.ts';
import { defineRoute } from '../../http/route.ts';
import { component, idSchema, nullable, oneOf, rawJson, Type } from '../../http/schema.ts';
import { readTime } from '../../http/time-parameter.ts';
import { RawJson } from '../../platform/json.ts';
import { isId } from '../../rules/ids.ts';
import type { EventPlace } from '../deliveries/resend-store.ts';
import { findMissedEvents, insertResends, lockRecovery } from '../deliveries/resend-store.ts';
import { activeOr409, ownerOf, webhookOr404 } from '../endpoints/own-webhook.ts';
import { findWebhook } from '../endpoints/store.ts';
import { EVENT_TYPES } from '../events/event-types.ts';
import { DELIVERY_STATUSES, deliveryFields, deliveryListSchema, showAttempt } from '../events/routes.ts';
import type { LoggedExchange } from './log-store.ts';
import { findLogged, listAttempts, listPending } from './log-store.ts';

type DeliveryDeps = {
  db: Database;
  /** How many batches of 2,000 events one recovery looks at; 50 without it. */
  maxRecoveryBatches?: number;
};

const time = Type.String({ format: 'date-time' });
const webhookParams = Type.Object({ id: Type.String() });
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
const redeliveredSchema = Type.Object(
  { event_id: idSchema('evt', 'evt_01kamz2f3q8r5t7v9wxyzabcde') },
  component('Redelivered'),
);
const recoveredSchema = Type.Object(
  {
    events: Type.Integer({ minimum: 0, description: 'How many events are sent again.' }),
    next_since: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Only where more than 100,000 events lie in that time: ask again with this as since.',
      }),
    ),
  },
  component('Recovered'),
);

// Of 2,000 events each: a request reads 100,000 events at most, which takes seconds.
const MAX_RECOVERY_BATCHES = 50;
// Ends the message for a disabled webhook.
const PURPOSE = 'sending to it again';

/** The delivery log of a webhook, and sending again. */
export function deliveryRoutes(deps: DeliveryDeps): Route[] {
  return [listDeliveries(deps), getDelivery(deps), redeliver(deps), recover(deps)];
}

function listDeliveries({ db }: DeliveryDeps): Route {
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
      query: Type.Object({
        ...pageFields,
        status: Type.Optional(oneOf(DELIVERY_STATUSES)),
        event_type: Type.Optional(oneOf(EVENT_TYPES)),
        event_id: Type.Optional(Type.String({ maxLength: 100 })),
        after: Type.Optional(time),
        before: Type.Optional(time),
      }),
      answers: { 200: deliveryListSchema },
    },
    async handle({ account, params, query }) {
      const webhook = await webhookOr404(db, account, params.id);
      const place = { shard: account.shard, webhookId: webhook.id };
      const filter = {
        status: query.status ?? null,
        eventType: query.event_type ?? null,
        eventId: query.event_id ?? null,
        after: readTime('after', query.after),
        before: readTime('before', query.before),
        limit: query.limit + 1,
        beforeId: decodeCursor('dlv', query.cursor),
      };
      // In this order: an attempt that ends in between is in both lists, and the recorded entry replaces the pending one.
      const pending = await listPending(db, place, filter);
      const made = await listAttempts(db, place, filter);
      const entries = new Map([...pending, ...made].map((entry) => [entry.id, entry]));
      const newest = [...entries.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
      return { status: 200, body: pageOf(newest, query.limit, showAttempt) };
    },
  });
}

function getDelivery({ db }: DeliveryDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/webhooks/:id/deliveries/:delivery_id',
    auth: 'key',
    scope: 'webhooks:read',
    summary: 'Read a delivery attempt with the request as sent and the answer',
    tag: 'Deliveries',
    schema: { params: entryParams, answers: { 200: exchangeSchema } },
    async handle({ account, params }) {
      return { status: 200, body: showExchange(await entryOr404(db, account, params)) };
    },
  });
}

function redeliver({ db }: DeliveryDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/webhooks/:id/deliveries/:delivery_id/redeliver',
    auth: 'key',
    scope: 'webhooks:write',
    bucket: 'resend',
    summary: 'Send the event of a delivery again, beginning with attempt 1',
    tag: 'Deliveries',
    schema: { params: entryParams, answers: { 202: redeliveredSchema } },
    async handle({ account, params, idempotency }) {
      const { eventId, webhookId } = await entryOr404(db, account, params);
      activeOr409(await findWebhook(db, ownerOf(account), webhookId), PURPOSE);
      const send = async (sql: Sql) => {
        const sent = await insertResends(sql, { ...ownerOf(account), webhookId }, [eventId]);
        if (sent === 0) throw new ApiError('not_found', 'The event of this delivery is no longer kept.');
        return await idempotency.saveAnswer(sql, { status: 202, body: { event_id: eventId } });
      };
      // Without a key there is one statement only, which needs no transaction.
      return idempotency.hasKey ? await db.transaction(send) : await send(db);
    },
  });
}

function recover({ db, maxRecoveryBatches = MAX_RECOVERY_BATCHES }: DeliveryDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/webhooks/:id/recover',
    auth: 'key',
    scope: 'webhooks:write',
    bucket: 'resend',
    summary: 'Send every event of a time again that this webhook did not accept',
    tag: 'Deliveries',
    schema: {
      params: webhookParams,
      body: Type.Object({ since: time, until: Type.Optional(time) }),
      answers: { 202: recoveredSchema },
    },
    async handle({ account, params, body, note, idempotency }) {
      const webhook = await webhookOr404(db, account, params.id);
      const resend = { ...ownerOf(account), webhookId: webhook.id };
      const until = readTime('until', body.until);
      let after: EventPlace = { at: readTime('since', body.since)!.toISOString(), id: '' };
      let found = 0;
      for (let batch = 1; ; batch++) {
        // One transaction per batch: after a crash the same request finds the remaining events.
        const { ids, next, answer } = await db.transaction(async (tx) => {
          await lockRecovery(tx, webhook.id);
          activeOr409(await findWebhook(tx, ownerOf(account), webhook.id), PURPOSE);
          const missed = await findMissedEvents(tx, resend, { after, until });
          await insertResends(tx, resend, missed.ids);
          if (missed.next && batch < maxRecoveryBatches) return { ...missed, answer: null };
          const events = found + missed.ids.length;
          const rest = missed.next ? { next_since: new Date(missed.next.at).toISOString() } : {};
          return { ...missed, answer: await idempotency.saveAnswer(tx, { status: 202, body: { events, ...rest } }) };
        });
        found += ids.length;
        note({ recovered: found });
        if (answer || !next) return answer!;
        after = next;
      }
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
        : { headers: readableHeaders(responseHeaders), body: responseBody?.toString('utf8') ?? '' },
  };
}

/** Entries of version 0.1.0 may hold text that is not JSON: an answer's headers were cleaned after they were serialised. */
function readableHeaders(text: string): RawJson {
  try {
    JSON.parse(text);
    return new RawJson(text);
  } catch {
    return new RawJson('{}');
  }
}

async function entryOr404(
  db: Database,
  account: Account,
  params: { id: string; delivery_id: string },
): Promise<LoggedExchange> {
  const webhook = await webhookOr404(db, account, params.id);
  const place = { shard: account.shard, webhookId: webhook.id };
  const entry = isId('dlv', params.delivery_id) ? await findLogged(db, place, params.delivery_id) : null;
  if (!entry) throw new ApiError('not_found', 'There is no such delivery.');
  return entry;
}
