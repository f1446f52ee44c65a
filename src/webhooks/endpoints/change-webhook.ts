import type { Account, Actor } from '../../accounts/account.ts';
import type { AuditAction } from '../../audit/actions.ts';
import { recordChange } from '../../audit/record.ts';
import { ApiError } from '../../http/api-error.ts';
import type { UrlTarget } from '../../rules/network/url-guard.ts';
import type { AccountRef } from '../../rules/shard.ts';
import { INCLUDED_PARTS, type IncludedPart } from '../../rules/webhooks/included-body.ts';
import type { OwnHeaders } from '../../rules/webhooks/own-headers.ts';
import { dropWaiting } from '../deliveries/drop-store.ts';
import { EVENT_TYPES, type EventType } from '../events/event-types.ts';
import { notifyDeliveriesDue } from '../events/store.ts';
import type { SecretsRuntime } from '../secrets/secrets.ts';
import { foundOr404, ownerOf } from './own-webhook.ts';
import type { StoredHeaders, WebhookRow } from './store.ts';
import * as store from './store.ts';
import { requireMayEnable } from './webhook-limit.ts';

/** What the endpoints that write webhooks run on. */
export type WebhookContext = SecretsRuntime & {
  /** @throws ApiError  for a URL that a webhook may not have */
  readUrl(raw: string): UrlTarget;
  /** @throws ApiError  for a URL that a webhook may not have */
  resolveUrl(target: UrlTarget, accountId: string): Promise<string>;
  /** @throws ApiError  400 */
  storeHeaders(webhookId: string, headers: OwnHeaders | null): StoredHeaders;
};

type Caller = { account: Account; actor: Actor };

/** Fields of a PATCH; those that are absent stay as they are. */
type Change = {
  url?: string;
  events?: EventType[];
  description?: string | null;
  headers?: OwnHeaders | null;
  max_per_second?: number | null;
  include?: IncludedPart[];
  active?: boolean;
};

/** Changes a webhook, and drops what waits for one that is disabled. @throws ApiError */
export async function changeWebhook(
  { db, clock, readUrl, resolveUrl, storeHeaders }: WebhookContext,
  { account, actor }: Caller,
  before: WebhookRow,
  body: Change,
): Promise<WebhookRow> {
  const owner = ownerOf(account);
  const change = {
    headers: body.headers === undefined ? undefined : storeHeaders(before.id, body.headers),
    url: body.url === undefined ? undefined : await resolveUrl(readUrl(body.url), account.id),
    events: body.events && foldEvents(body.events),
    description: body.description,
    active: body.active,
    maxPerSecond: body.max_per_second,
    include: body.include && foldParts(body.include),
    now: new Date(clock.now()),
  };
  if (change.url && !change.headers) requireSameOrigin(before, change.url);
  // Deliveries that a crash left waiting when the webhook was disabled must not be sent now.
  if (body.active === true && !before.active) await drop({ db }, owner, before, 'all');
  const details = { fields: Object.keys(body), ...(body.active !== undefined && { active: body.active }) };
  const row = await db.transaction(async (tx) => {
    if (body.active === true) await requireMayEnable(tx, owner, before.id);
    const changed = foundOr404(await store.updateWebhook(tx, owner, before.id, change));
    const isDefence = body.active === false;
    await recordChange(tx, actor, { ...changeOf(account, before.id, 'webhook.changed', details), isDefence });
    // Deliveries may wait because the headers before could not be opened.
    const isWoken = change.headers && (await store.wakeFirstAttempts(tx, owner.shard, before.id)) > 0;
    if (isWoken) notifyDeliveriesDue(tx, owner.shard);
    store.notifyWebhookChanged(tx, before.id);
    return changed;
  });
  if (!row.active) await drop({ db }, owner, row, 'others');
  return row;
}

/** Deletes a webhook and drops what waits for it. @throws ApiError  404 */
export async function deleteWebhook(
  { db }: Pick<WebhookContext, 'db'>,
  { account, actor }: Caller,
  id: string,
): Promise<void> {
  const owner = ownerOf(account);
  const row = await db.transaction(async (tx) => {
    const deleted = foundOr404(await store.deleteWebhook(tx, owner, id));
    await recordChange(tx, actor, changeOf(account, id, 'webhook.deleted'));
    store.notifyWebhookChanged(tx, id);
    return deleted;
  });
  await drop({ db }, owner, row, 'others');
}

/** What is due already is dropped by the deliverer that owns the shard, as it may be in flight. */
async function drop(
  { db }: Pick<WebhookContext, 'db'>,
  { shard }: AccountRef,
  webhook: WebhookRow,
  by: 'others' | 'all',
): Promise<void> {
  await dropWaiting(db, { shard, webhookId: webhook.id, url: webhook.url, allowed: { by } });
}

/** An entry of the audit log. */
export function changeOf(
  { id }: Account,
  webhookId: string,
  action: AuditAction,
  details: Record<string, unknown> = {},
) {
  return { accountId: id, action, targetId: webhookId, details };
}

/**
 * The values of the headers are not shown to those who change the webhook, and go to no server they were not set for.
 */
function requireSameOrigin({ url, headerNames }: WebhookRow, newUrl: string): void {
  if (headerNames.length === 0 || new URL(url).origin === new URL(newUrl).origin) return;
  const message = 'The url has another origin than before; give the headers for it again, or headers: null.';
  throw new ApiError('conflict', message, { param: 'headers' });
}

/** Each type once, in the order of EVENT_TYPES. */
export function foldEvents(events: readonly EventType[]): EventType[] {
  return EVENT_TYPES.filter((type) => events.includes(type));
}

/** Each part once, in the order of INCLUDED_PARTS. */
export function foldParts(parts: readonly IncludedPart[]): IncludedPart[] {
  return INCLUDED_PARTS.filter((part) => parts.includes(part));
}
