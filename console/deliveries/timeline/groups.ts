import type { Delivery } from '#sdk/api.ts';

/** The attempts of an event at one webhook, oldest first. */
export type WebhookAttempts = { webhookId: string; url: string | null; attempts: Delivery[] };

/** An event with the webhooks that it was sent to. */
export type EventGroup = { eventId: string; eventType: string; webhooks: WebhookAttempts[] };

/** Attempts by event, then by webhook; both in the order of the entries. @param entries  newest first */
export function groupByEvent(entries: readonly Delivery[]): EventGroup[] {
  return [...Map.groupBy(entries, ({ event_id }) => event_id)].map(([eventId, ofEvent]) => ({
    eventId,
    eventType: ofEvent[0]!.event_type,
    webhooks: groupByWebhook(ofEvent),
  }));
}

/** Attempts by webhook. @param entries  newest first */
export function groupByWebhook(entries: readonly Delivery[]): WebhookAttempts[] {
  return [...Map.groupBy(entries, ({ webhook_id }) => webhook_id)].map(([webhookId, ofWebhook]) => ({
    webhookId,
    url: ofWebhook.find(({ url }) => url !== null)?.url ?? null,
    attempts: ofWebhook.toReversed(),
  }));
}
