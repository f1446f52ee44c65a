import type { Runtime } from '../db/runtime.ts';
import { ApiError } from '../http/api-error.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { component, idSchema, Type } from '../http/schema.ts';
import { activeOr409, anyWebhookOr404 } from './endpoints/own-webhook.ts';
import type { WebhookRow } from './endpoints/store.ts';
import { eventTypeSchema, showWebhook } from './endpoints/view.ts';
import { eventPayloads } from './event-payloads.ts';
import { composeEvent } from './events/compose-event.ts';
import type { EventData, EventType } from './events/event-types.ts';
import { mayReceive } from './events/may-receive.ts';
import { insertTest } from './events/store.ts';

const testSentSchema = Type.Object(
  { event_id: idSchema('evt', 'evt_01kamz2f3q8r5t7v9wxyzabcde'), type: eventTypeSchema },
  component('TestSent', { event_id: 'evt_01kamz2f3q8r5t7v9wxyzabcde', type: 'webhook.test' }),
);

/** POST /v1/webhooks/:id/test. */
export function webhookTestRoutes({ db, config }: Runtime): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/webhooks/:id/test',
      auth: 'key',
      scope: 'webhooks:write',
      bucket: 'resend',
      summary: 'Send a test to a webhook, whether or not it subscribes to the type',
      description:
        'Without a type a `webhook.test` event; with one the example of that type from GET /v1/event-types, as an event of its own. The body may be left out.',
      links: { get_events_id: { id: '$response.body#/event_id' } },
      tag: 'Webhooks',
      schema: {
        params: Type.Object({ id: Type.String() }),
        body: Type.Object({
          type: Type.Optional(Type.Unsafe<EventType>({ ...eventTypeSchema, description: 'Default: webhook.test.' })),
        }),
        answers: { 202: testSentSchema },
      },
      async handle({ account, params, body: { type = 'webhook.test' }, note, idempotency }) {
        const webhook = activeOr409(await anyWebhookOr404(db, account, params.id), 'testing it');
        const { id } = webhook;
        if (!mayReceive(id, { type, jobId: null, testedId: id })) {
          const message = 'The webhook for alerts gets no events of jobs: leave out the type.';
          throw new ApiError('invalid_request', message, { param: 'type' });
        }
        const test = {
          event: composeEvent({ account, type, jobId: null, ...contentOf(type, webhook) }),
          webhookId: id,
        };
        const answer = { status: 202, body: { event_id: test.event.id, type } } as const;
        const sent = (isInserted: boolean) => {
          if (!isInserted) throw new ApiError('conflict', 'The webhook was disabled or deleted at this moment.');
          note({ event_id: test.event.id, webhook_id: id });
          return answer;
        };
        if (!idempotency.hasKey) return sent(await insertTest(db, test, config));
        return await db.transaction(async (tx) => idempotency.saveAnswer(tx, sent(await insertTest(tx, test, config))));
      },
    }),
  ];
}

/** A webhook.test shows the webhook itself; all other types are the examples of the documentation. */
function contentOf(type: EventType, webhook: WebhookRow): { data: EventData; metadata: string | null } {
  if (type === 'webhook.test') return { data: { webhook: showWebhook(webhook) }, metadata: null };
  const { example } = eventPayloads.find((payload) => payload.type === type)!;
  const { data, metadata } = example as { data: EventData; metadata?: unknown };
  return { data, metadata: metadata === undefined ? null : JSON.stringify(metadata) };
}
