import type { Account } from '../../accounts/account.ts';
import type { Database, Sql } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { ApiError } from '../../http/api-error.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { component, DOCUMENTED, idSchema, oneOf, Type } from '../../http/schema.ts';
import { readTimeRange, timeParameter } from '../../http/time-parameter.ts';
import { isId, webhookKindOf } from '../../rules/ids.ts';
import {
  type EventPlace,
  findMissedEvents,
  insertResends,
  lockRecovery,
  MISSED_STATUSES,
} from '../deliveries/resend-store.ts';
import { activeOr409, ownerOf, webhookOr404 } from '../endpoints/own-webhook.ts';
import { findWebhook, type WebhookRow } from '../endpoints/store.ts';
import { EMITTED_TYPES } from '../events/event-types.ts';
import { findEvent } from '../events/log-store.ts';
import { mayReceive } from '../events/may-receive.ts';
import { findEventsOfEntries, findLogged, type LoggedExchange } from './log-store.ts';

export type ResendRuntime = Runtime & {
  /** How many batches of 2,000 events one recovery looks at; 50 without it. */
  maxRecoveryBatches?: number;
};

const webhookParams = Type.Object({ id: Type.String() });
const entryParams = Type.Object({ id: Type.String(), delivery_id: Type.String() });

// Another text is answered 404, as an unknown id is.
const deliveryIdField = Type.String({
  maxLength: 100,
  examples: ['dlv_01kamz2f3q8r5t7v9wxyzabcde'],
  [DOCUMENTED]: { pattern: '^dlv_[0-9a-hjkmnp-tv-z]{26}$' },
});

/** Not that of the webhook for alerts, which gets no events. */
const webhookIdField = Type.String({
  maxLength: 100,
  [DOCUMENTED]: { pattern: '^whj?_[0-9a-hjkmnp-tv-z]{26}$' },
  examples: ['wh_01kamz2f3q8r5t7v9wxyzabcde'],
});

const redeliveredSchema = Type.Object(
  { event_id: idSchema('evt', 'evt_01kamz2f3q8r5t7v9wxyzabcde') },
  component('Redelivered'),
);
const redeliveredManySchema = Type.Object(
  { events: Type.Integer({ minimum: 0, description: 'How many events are sent again; each of them once.' }) },
  component('RedeliveredMany', { events: 2 }),
);
const recoveredFields = {
  events: Type.Integer({ minimum: 0, description: 'How many events are sent again, or would be.' }),
  next_since: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Only where more than 100,000 events lie in that time: ask again with this as since.',
    }),
  ),
};
const recoveredSchema = Type.Object(recoveredFields, component('Recovered', { events: 12 }));

// Of 2,000 events each: a request reads 100,000 events at most, which takes seconds.
const MAX_RECOVERY_BATCHES = 50;
const MAX_REDELIVERED = 100;
// Ends the message for a disabled webhook.
const PURPOSE = 'sending to it again';

/** Sending events to a webhook again. */
export function resendRoutes(runtime: ResendRuntime): Route[] {
  return [redeliver(runtime), redeliverMany(runtime), recover(runtime), resendEvent(runtime)];
}

function redeliver({ db }: ResendRuntime): Route {
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
      const webhook = await webhookOr404(db, account, params.id);
      const { eventId, webhookId } = await entryOr404(db, account, webhook, params.delivery_id);
      activeOr409(webhook, PURPOSE);
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

function redeliverMany({ db }: ResendRuntime): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/webhooks/:id/redeliver',
    auth: 'key',
    scope: 'webhooks:write',
    bucket: 'resend',
    summary: 'Send the events of several deliveries again, beginning with attempt 1',
    description: 'All of them or none. Deliveries of the same event send it once.',
    tag: 'Deliveries',
    schema: {
      params: webhookParams,
      body: Type.Object({
        delivery_ids: Type.Array(deliveryIdField, {
          minItems: 1,
          maxItems: MAX_REDELIVERED,
          description: "Ids of the webhook's delivery log.",
        }),
      }),
      answers: { 202: redeliveredManySchema },
    },
    async handle({ account, params, body, note, idempotency }) {
      const webhook = activeOr409(await webhookOr404(db, account, params.id), PURPOSE);
      const ids = [...new Set(body.delivery_ids)];
      const known = ids.filter((id) => isId('dlv', id));
      const events = await findEventsOfEntries(db, { shard: account.shard, webhookId: webhook.id }, known);
      const unknown = body.delivery_ids.findIndex((id) => !events.has(id));
      if (unknown >= 0) {
        const message = `delivery_ids[${unknown}] is no delivery of this webhook; nothing was sent.`;
        throw new ApiError('not_found', message, { param: 'delivery_ids' });
      }
      const send = async (sql: Sql) => {
        const resend = { ...ownerOf(account), webhookId: webhook.id };
        const sent = await insertResends(sql, resend, [...new Set(events.values())]);
        note({ redelivered: sent });
        return await idempotency.saveAnswer(sql, { status: 202, body: { events: sent } });
      };
      // Without a key there is one statement only, which needs no transaction.
      return idempotency.hasKey ? await db.transaction(send) : await send(db);
    },
  });
}

function recover({ db, clock, maxRecoveryBatches = MAX_RECOVERY_BATCHES }: ResendRuntime): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/webhooks/:id/recover',
    auth: 'key',
    scope: 'webhooks:write',
    bucket: 'resend',
    summary: 'Send every event of a time again that this webhook did not accept',
    description:
      'With `dry_run` nothing is sent, and a disabled webhook is allowed: the answer, a 200, counts the events.',
    tag: 'Deliveries',
    schema: {
      params: webhookParams,
      body: Type.Object({
        since: timeParameter(),
        until: Type.Optional(timeParameter()),
        event_type: Type.Optional(oneOf(EMITTED_TYPES, { description: 'Only events of this type.' })),
        status: Type.Optional(
          oneOf(MISSED_STATUSES, {
            description:
              "Only events whose newest entry in the webhook's log has this status; none: those that were never sent to it.",
          }),
        ),
        dry_run: Type.Boolean({ default: false, description: 'Count the events, and send none.' }),
      }),
      answers: { 200: recoveredSchema, 202: recoveredSchema },
    },
    async handle({ account, params, body, note, idempotency }) {
      const webhook = await webhookOr404(db, account, params.id);
      const resend = { ...ownerOf(account), webhookId: webhook.id };
      const [since, until] = readTimeRange(['since', 'until'], body);
      if (since!.getTime() > clock.now()) {
        throw new ApiError('invalid_request', 'since must not be in the future.', { param: 'since' });
      }
      const wanted = {
        until,
        eventType: body.event_type ?? null,
        status: body.status ?? null,
      };
      let after: EventPlace = { at: since!.toISOString(), id: '' };
      let found = 0;
      for (let batch = 1; ; batch++) {
        // One transaction per batch: after a crash the same request finds the remaining events.
        const { ids, next, answer } = await db.transaction(async (tx) => {
          if (!body.dry_run) await lockRecovery(tx, webhook.id);
          if (!body.dry_run) activeOr409(await findWebhook(tx, ownerOf(account), webhook.id), PURPOSE);
          const missed = await findMissedEvents(tx, resend, { after, ...wanted });
          if (!body.dry_run) await insertResends(tx, resend, missed.ids);
          if (missed.next && batch < maxRecoveryBatches) return { ...missed, answer: null };
          const rest = missed.next ? { next_since: new Date(missed.next.at).toISOString() } : {};
          const counted = { events: found + missed.ids.length, ...rest };
          const answer = { status: body.dry_run ? 200 : 202, body: counted } as const;
          return { ...missed, answer: await idempotency.saveAnswer(tx, answer) };
        });
        found += ids.length;
        note({ [body.dry_run ? 'counted' : 'recovered']: found });
        if (answer || !next) return answer!;
        after = next;
      }
    },
  });
}

function resendEvent({ db }: ResendRuntime): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/events/:id/resend',
    auth: 'key',
    scope: 'webhooks:write',
    bucket: 'resend',
    summary: 'Send an event to a webhook, whether or not it was sent there before',
    description:
      'Beginning with attempt 1, also where the webhook does not subscribe to the type. A test goes to its own webhook only, an alert to none. The stream of the account carries it as `resend`.',
    tag: 'Events',
    schema: {
      params: Type.Object({ id: Type.String({ description: 'evt_…' }) }),
      body: Type.Object({ webhook_id: webhookIdField }),
      answers: { 202: redeliveredSchema },
    },
    async handle({ account, params: { id }, body, note, idempotency }) {
      const owner = ownerOf(account);
      const event = isId('evt', id) ? await findEvent(db, { ...owner, id }) : null;
      if (event === null) throw new ApiError('not_found', 'There is no such event.');
      const webhook = activeOr409(await webhookOr404(db, account, body.webhook_id, 'webhook_id'), PURPOSE);
      if (!mayReceive(webhook.id, event)) throw notForWebhook(webhook.id);
      note({ event_id: id, webhook_id: webhook.id });
      const send = async (sql: Sql) => {
        const sent = await insertResends(sql, { ...owner, webhookId: webhook.id }, [id]);
        if (sent === 0) throw new ApiError('not_found', 'The event is no longer kept.');
        return await idempotency.saveAnswer(sql, { status: 202, body: { event_id: id } });
      };
      // Without a key there is one statement only, which needs no transaction.
      return idempotency.hasKey ? await db.transaction(send) : await send(db);
    },
  });
}

function notForWebhook(webhookId: string): ApiError {
  const message =
    webhookKindOf(webhookId) === 'job'
      ? 'The webhook of a job gets the events of this job only; give another webhook_id.'
      : 'Tests go to the webhook that they are of, and alerts to the webhook for alerts; give another event.';
  return new ApiError('invalid_request', message, { param: 'webhook_id' });
}

/** @throws ApiError  404 for an entry that the webhook's log does not have */
export async function entryOr404(
  db: Database,
  account: Account,
  webhook: WebhookRow,
  deliveryId: string,
): Promise<LoggedExchange> {
  const place = { shard: account.shard, webhookId: webhook.id };
  const entry = isId('dlv', deliveryId) ? await findLogged(db, place, deliveryId) : null;
  if (!entry) throw new ApiError('not_found', 'There is no such delivery.');
  return entry;
}
