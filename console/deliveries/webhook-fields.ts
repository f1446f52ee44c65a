import type { Webhook } from '#sdk/api.ts';

/** The body of POST or PATCH /v1/webhooks. `headers` is absent when they stay as they are; null removes them. */
export type WebhookFields = {
  url: string;
  events: Webhook['events'];
  description: string | null;
  max_per_second: number | null;
  headers?: Record<string, string> | null;
};

/** The fields that differ from the webhook: only these are sent, so that the audit log names what was changed. */
export function changedFields(webhook: Webhook, fields: WebhookFields): Partial<WebhookFields> {
  const { headers, ...others } = fields;
  const changed = Object.entries(others).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(webhook[name as keyof Webhook]),
  );
  // The stored values of headers are not known: given ones always replace them.
  const isChanged = headers !== undefined && (headers !== null || webhook.headers.length > 0);
  return { ...Object.fromEntries(changed), ...(isChanged && { headers }) };
}
