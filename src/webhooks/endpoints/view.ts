import { component, idSchema, nullable, oneOf, pageSchema, type Static, Type, timeSchema } from '../../http/schema.ts';
import { jobIdOfWebhook } from '../../rules/ids.ts';
import { INCLUDED_PARTS } from '../../rules/webhooks/included-body.ts';
import { EVENT_TYPES } from '../events/event-types.ts';
import type { WebhookRow } from './store.ts';

export const eventTypeSchema = oneOf(EVENT_TYPES);

export const WEBHOOK_EXAMPLE = {
  id: 'wh_01kamz2f3q8r5t7v9wxyzabcde',
  url: 'https://hooks.example.com/verbatim',
  events: ['transcription.completed'],
  description: 'CRM',
  headers: ['Authorization'],
  max_per_second: 20,
  include: ['text', 'segments'],
  active: true,
  disabled_reason: null,
  disabled_at: null,
  consecutive_failures: 0,
  failing_since: null,
  previous_secret_ends_at: null,
  created_at: '2026-11-21T09:30:00.000Z',
  updated_at: '2026-11-21T09:30:00.000Z',
};

const webhookFields = {
  id: idSchema('wh[ja]?', WEBHOOK_EXAMPLE.id),
  job_id: Type.Optional(
    idSchema('job', 'job_01kamz2f3q8r5t7v9wxyzabcde', {
      description: 'Only of the webhook of one job, which gets the events of this job alone and is in no list.',
    }),
  ),
  url: Type.String(),
  events: Type.Array(eventTypeSchema),
  description: nullable(Type.String()),
  headers: Type.Array(Type.String(), { description: 'Names of its custom headers. Their values are never shown.' }),
  max_per_second: nullable(Type.Integer(), 'How many requests may be sent in a second; null: no limit.'),
  include: Type.Array(oneOf(INCLUDED_PARTS), {
    description:
      'The parts of a job that its deliveries have; for another, the job has `text_omitted` or `segments_omitted`.',
  }),
  active: Type.Boolean(),
  disabled_reason: nullable(oneOf(['manual', 'consecutive_failures'])),
  disabled_at: nullable(timeSchema),
  consecutive_failures: Type.Integer({ description: 'Failed attempts since the last one that succeeded.' }),
  failing_since: nullable(timeSchema),
  previous_secret_ends_at: nullable(
    timeSchema,
    'Until then the secret before the last rotation signs too. May be past; null: no overlap was asked for.',
  ),
  created_at: timeSchema,
  updated_at: timeSchema,
};

export const webhookSchema = Type.Object(webhookFields, component('Webhook', WEBHOOK_EXAMPLE));
/** A webhook as alerts show it. */
export const alertedWebhookSchema = Type.Object(
  {
    id: webhookFields.id,
    url: webhookFields.url,
    active: webhookFields.active,
    disabled_reason: webhookFields.disabled_reason,
    disabled_at: webhookFields.disabled_at,
    consecutive_failures: webhookFields.consecutive_failures,
    failing_since: webhookFields.failing_since,
  },
  component('AlertedWebhook'),
);
export const webhookWithSecretSchema = Type.Object(
  { ...webhookFields, secret: Type.String({ description: 'Signs deliveries. Shown only in this answer.' }) },
  component('WebhookWithSecret'),
);
export const webhookListSchema = pageSchema('WebhookList', webhookSchema);

/** A webhook as the API and `webhook.test` show it. */
export function showWebhook(row: WebhookRow): Static<typeof webhookSchema> {
  const jobId = jobIdOfWebhook(row.id);
  return {
    id: row.id,
    ...(jobId !== null && { job_id: jobId }),
    url: row.url,
    events: row.events,
    description: row.description,
    headers: row.headerNames,
    max_per_second: row.maxPerSecond,
    include: row.include,
    active: row.active,
    disabled_reason: row.disabledReason,
    disabled_at: row.disabledAt?.toISOString() ?? null,
    consecutive_failures: row.consecutiveFailures,
    failing_since: row.failingSince?.toISOString() ?? null,
    previous_secret_ends_at: row.previousSecretEndsAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
