import type { Sql } from '../../../db/database.ts';
import { isId } from '../../../rules/ids.ts';
import { composeEvent } from '../../events/compose-event.ts';
import type { AlertType } from '../../events/event-types.ts';
import { insertAlert, notifyDeliveriesDue } from '../../events/store.ts';
import { type AlertedWebhook, findAlerted } from './alert-store.ts';
import type { FinishedAttempt } from './finished-attempt.ts';

/** An outage of a receiver uses up many deliveries: the account is told of the first one. */
const EXHAUSTED_EVERY_MS = 3_600_000;

type Failures = {
  shard: number;
  nowMs: number;
  /** Webhooks that this batch has disabled. */
  disabled: string[];
  /** The last attempts of deliveries, which failed. */
  exhausted: FinishedAttempt[];
};

/**
 * Tells accounts, in the transaction that records the attempts, that a webhook was disabled, and that a delivery has
 * used up its attempts: by an event of the account, which also goes to its webhook for alerts.
 */
export async function insertAlerts(tx: Sql, { shard, nowMs, disabled, exhausted }: Failures): Promise<void> {
  const lastOf = new Map(exhausted.filter(isOfEvents).map((attempt) => [attempt.webhookId, attempt]));
  const ids = disabled.filter((webhookId) => isOfEvents({ webhookId }));
  if (ids.length === 0 && lastOf.size === 0) return;
  const now = new Date(nowMs);
  const query = { shard, disabled: ids, exhausted: [...lastOf.keys()], now, everyMs: EXHAUSTED_EVERY_MS };
  for (const webhook of await findAlerted(tx, query)) {
    const emit = async (type: AlertType, more: object) => {
      const account = { id: webhook.accountId, shard };
      const data = { webhook: showAlerted(webhook), ...more };
      await insertAlert(tx, composeEvent({ account, type, jobId: null, metadata: null, data, now }));
    };
    if (webhook.wasExhausted) await emit('webhook.exhausted', { delivery: showLast(lastOf.get(webhook.id)!) });
    if (ids.includes(webhook.id)) await emit('webhook.disabled', {});
  }
  notifyDeliveriesDue(tx, shard);
}

/** Failures of the webhook for alerts itself cause no alerts. */
function isOfEvents({ webhookId }: { webhookId: string }): boolean {
  return !isId('wha', webhookId);
}

function showAlerted(webhook: AlertedWebhook): Record<string, unknown> {
  return {
    id: webhook.id,
    url: webhook.url,
    active: webhook.active,
    disabled_reason: webhook.disabledReason,
    disabled_at: webhook.disabledAt?.toISOString() ?? null,
    consecutive_failures: webhook.consecutiveFailures,
    failing_since: webhook.failingSince?.toISOString() ?? null,
  };
}

function showLast({ attemptId, eventId, eventType, attempt, errorReason, responseStatus }: FinishedAttempt) {
  return {
    id: attemptId,
    event_id: eventId,
    event_type: eventType,
    attempt,
    reason: errorReason,
    response_status: responseStatus,
  };
}
