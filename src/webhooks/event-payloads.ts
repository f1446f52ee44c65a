import { component, idSchema, nullable, oneOf, type TSchema, Type, timeSchema } from '../http/schema.ts';
import { JOB_IN_EVENT_EXAMPLE, jobInEventSchema } from '../jobs/schemas.ts';
import { FAILURE_REASONS } from '../rules/webhooks/delivery-outcome.ts';
import { alertedWebhookSchema, WEBHOOK_EXAMPLE, webhookSchema } from './endpoints/view.ts';
import { ALERT_CATALOGUE, type AlertType, EVENT_CATALOGUE, EVENT_TYPES, type EventType } from './events/event-types.ts';
import { deliveryFields } from './events/routes.ts';

/** A type of event, with the JSON Schema of the body that webhooks receive, and an example of it. */
export type EventPayload<Type = EventType> = {
  type: Type;
  when: string;
  schema: TSchema;
  example: Record<string, unknown>;
};

const EVENT_ID = 'evt_01kamz2f3q8r5t7v9wxyzabcde';
const ALERTED_EXAMPLE = {
  id: WEBHOOK_EXAMPLE.id,
  url: WEBHOOK_EXAMPLE.url,
  active: true,
  disabled_reason: null,
  disabled_at: null,
  consecutive_failures: 4,
  failing_since: WEBHOOK_EXAMPLE.created_at,
};
const DISABLED_EXAMPLE = {
  ...ALERTED_EXAMPLE,
  active: false,
  disabled_reason: 'consecutive_failures',
  disabled_at: JOB_IN_EVENT_EXAMPLE.completed_at,
  consecutive_failures: 10,
};
const LAST_EXAMPLE = {
  id: 'dlv_01kamz2f3q8r5t7v9wxyzabcde',
  event_id: EVENT_ID,
  event_type: 'transcription.completed',
  attempt: 4,
  reason: 'http_status',
  response_status: 503,
};
const SUBJECTS = { job: jobInEventSchema, webhook: webhookSchema };
const FAILED_JOB = {
  ...JOB_IN_EVENT_EXAMPLE,
  status: 'failed',
  text: null,
  segments: null,
  speakers: null,
  error: { type: 'unprocessable_audio', message: 'The audio cannot be decoded.' },
  cost: 0,
  progress: 0,
};

/** What is sent for each type of event. */
export const eventPayloads: EventPayload[] = EVENT_TYPES.map((type) => {
  const { schemaName, when, subject, exampleStatus } = EVENT_CATALOGUE[type];
  const isOfJob = subject === 'job';
  const example = {
    id: EVENT_ID,
    type,
    created_at: JOB_IN_EVENT_EXAMPLE.completed_at,
    ...(isOfJob && { metadata: JOB_IN_EVENT_EXAMPLE.metadata }),
    data: isOfJob
      ? { job: exampleStatus === 'failed' ? FAILED_JOB : JOB_IN_EVENT_EXAMPLE }
      : { webhook: WEBHOOK_EXAMPLE },
  };
  const schema = Type.Object(
    {
      id: idSchema('evt', EVENT_ID),
      type: Type.Literal(type),
      created_at: timeSchema,
      ...(isOfJob && {
        metadata: Type.Optional(Type.Unknown({ description: 'As the request carried it; absent without it.' })),
      }),
      data: Type.Object({ [subject]: SUBJECTS[subject] }),
    },
    component(schemaName, example, when),
  );
  return { type, when, schema, example };
});

const lastDeliverySchema = Type.Object({
  id: deliveryFields.id,
  event_id: deliveryFields.event_id,
  event_type: deliveryFields.event_type,
  attempt: deliveryFields.attempt,
  reason: nullable(oneOf(FAILURE_REASONS), 'Why the last attempt failed.'),
  response_status: deliveryFields.response_status,
});

/** What the webhook for alerts of an account is sent. */
export const alertPayloads: EventPayload<AlertType>[] = [
  alertPayload('webhook.disabled', { webhook: alertedWebhookSchema }, { webhook: DISABLED_EXAMPLE }),
  alertPayload(
    'webhook.exhausted',
    { webhook: alertedWebhookSchema, delivery: lastDeliverySchema },
    { webhook: ALERTED_EXAMPLE, delivery: LAST_EXAMPLE },
  ),
];

function alertPayload(
  type: AlertType,
  fields: Record<string, TSchema>,
  data: Record<string, unknown>,
): EventPayload<AlertType> {
  const { schemaName, when } = ALERT_CATALOGUE[type];
  const example = { id: EVENT_ID, type, created_at: JOB_IN_EVENT_EXAMPLE.completed_at, data };
  const schema = Type.Object(
    {
      id: idSchema('evt', EVENT_ID),
      type: Type.Literal(type),
      created_at: timeSchema,
      data: Type.Object(fields),
    },
    component(schemaName, example, when),
  );
  return { type, when, schema, example };
}
