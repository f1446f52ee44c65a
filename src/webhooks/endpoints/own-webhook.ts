import type { Account } from '../../accounts/account.ts';
import type { Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import { isId, webhookKindOf } from '../../rules/ids.ts';
import type { AccountRef } from '../../rules/shard.ts';
import { findWebhook, type WebhookRow } from './store.ts';

/** The account as the store's statements name it. */
export function ownerOf(account: Account): AccountRef {
  return { shard: account.shard, accountId: account.id };
}

/**
 * A webhook for events.
 * @throws ApiError  404 for a text that is no webhook's id, for an unknown id and for another account's webhook; 400
 *   for the webhook for alerts
 */
export async function webhookOr404(sql: Sql, account: Account, id: string, param = 'id'): Promise<WebhookRow> {
  return foundOr404(await findWebhook(sql, ownerOf(account), webhookIdOr404(id, param)));
}

/**
 * The id of a webhook for events.
 * @throws ApiError  404 for a text that is no webhook's id; 400 for the webhook for alerts, which is no webhook of the
 *   plan and has routes of its own
 */
export function webhookIdOr404(id: string, param = 'id'): string {
  if (webhookKindOf(anyWebhookIdOr404(id)) !== 'alerts') return id;
  const message =
    'This is the webhook for alerts, which gets no events of jobs: read, change and delete it with /v1/alerts.';
  throw new ApiError('invalid_request', message, { param });
}

/** A webhook for events or for alerts. @throws ApiError  404 */
export async function anyWebhookOr404(sql: Sql, account: Account, id: string): Promise<WebhookRow> {
  return foundOr404(await findWebhook(sql, ownerOf(account), anyWebhookIdOr404(id)));
}

/** The id of a webhook for events or for alerts. @throws ApiError  404 for a text that is no webhook's id */
export function anyWebhookIdOr404(id: string): string {
  if (!isId('wh', id) && !isId('whj', id) && !isId('wha', id)) throw noSuchWebhook();
  return id;
}

/** @throws ApiError  404 for null */
export function foundOr404(row: WebhookRow | null): WebhookRow {
  if (!row) throw noSuchWebhook();
  return row;
}

/**
 * The webhook, if it may be sent to.
 * @param purpose  ends the message: "set active to true before …"
 * @throws ApiError  404 for null, 409 for a disabled webhook
 */
export function activeOr409(row: WebhookRow | null, purpose: string): WebhookRow {
  const webhook = foundOr404(row);
  if (webhook.active) return webhook;
  throw new ApiError('conflict', `The webhook is disabled; set active to true before ${purpose}.`);
}

export function noSuchWebhook(): ApiError {
  return new ApiError('not_found', 'There is no such webhook.');
}
