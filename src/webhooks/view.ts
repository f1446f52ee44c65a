import { EVENT_TYPES } from '../events/catalogue.ts';
import { Type } from '../http/schema.ts';
import type { WebhookRow } from './store.ts';

const time = Type.String({ format: 'date-time' });
const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

export const eventTypeSchema = Type.Union(EVENT_TYPES.map((type) => Type.Literal(type)));

const webhookFields = {
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(eventTypeSchema),
  description: orNull(Type.String()),
  active: Type.Boolean(),
  disabled_reason: orNull(Type.Union([Type.Literal('manual'), Type.Literal('consecutive_failures')])),
  disabled_at: orNull(time),
  consecutive_failures: Type.Integer({ description: 'Failed attempts since the last one that succeeded.' }),
  failing_since: orNull(time),
  created_at: time,
  updated_at: time,
};

export const webhookSchema = Type.Object(webhookFields);
export const webhookWithSecretSchema = Type.Object({
  ...webhookFields,
  secret: Type.String({ description: 'Signs deliveries. Shown only this once.' }),
});
export const webhookListSchema = Type.Object({
  data: Type.Array(webhookSchema),
  has_more: Type.Boolean(),
  next_cursor: orNull(Type.String()),
});

/** A webhook as the API and `webhook.test` show it. */
export function showWebhook(row: WebhookRow) {
  return {
    id: row.id,
    url: row.url,
    events: row.events,
    description: row.description,
    active: row.active,
    disabled_reason: row.disabledReason,
    disabled_at: row.disabledAt?.toISOString() ?? null,
    consecutive_failures: row.consecutiveFailures,
    failing_since: row.failingSince?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
