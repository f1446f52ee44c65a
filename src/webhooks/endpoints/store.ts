import type { Sql } from '../../db/database.ts';
import { IS_OF_ACCOUNT } from '../../db/statements/webhook-ids.ts';
import type { AccountRef } from '../../rules/shard.ts';
import type { IncludedPart } from '../../rules/webhooks/included-body.ts';
import type { EventType } from '../events/event-types.ts';

type DisabledReason = 'manual' | 'consecutive_failures';

/** A webhook without its secrets and the values of its headers. */
export type WebhookRow = {
  id: string;
  url: string;
  events: EventType[];
  description: string | null;
  /** Names of its own headers. */
  headerNames: string[];
  /** How many requests may be sent in a second; null: no limit. */
  maxPerSecond: number | null;
  /** The parts of a job that its deliveries have. */
  include: IncludedPart[];
  active: boolean;
  disabledReason: DisabledReason | null;
  disabledAt: Date | null;
  consecutiveFailures: number;
  failingSince: Date | null;
  /** Until then the secret before the last rotation signs too; null: there is none, or it ended with the rotation. */
  previousSecretEndsAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
};

/** A webhook's own headers as they are stored; without any, no names and null. */
export type StoredHeaders = { names: string[]; sealed: Buffer | null };

/** The columns of `WebhookRow`. */
export const COLUMNS = `id, url, events, description, header_names as "headerNames", max_per_second as "maxPerSecond", include, active,
  disabled_reason as "disabledReason", disabled_at as "disabledAt", consecutive_failures as "consecutiveFailures",
  failing_since as "failingSince", previous_secret_ends_at as "previousSecretEndsAt", created_at as "createdAt", updated_at as "updatedAt"`;

/** Disabled ones count. */
export async function countWebhooks(tx: Sql, { shard, accountId }: AccountRef): Promise<number> {
  const rows = await tx.rows<{ number: number }>({
    text: `select count(*) as number from webhooks where shard = $1 and account_id = $2 and ${IS_OF_ACCOUNT}`,
    values: [shard, accountId],
  });
  return rows[0]!.number;
}

/** How many webhooks of the account but one are active. */
export async function countOtherActive(sql: Sql, { shard, accountId }: AccountRef, id: string): Promise<number> {
  const rows = await sql.rows<{ number: number }>({
    text: `
      select count(*) as number
      from webhooks
      where shard = $1 and account_id = $2 and ${IS_OF_ACCOUNT} and active and id <> $3`,
    values: [shard, accountId, id],
  });
  return rows[0]!.number;
}

export async function insertWebhook(
  tx: Sql,
  { shard, accountId }: AccountRef,
  webhook: Pick<WebhookRow, 'id' | 'url' | 'events' | 'description' | 'maxPerSecond' | 'include'> & {
    secret: Buffer;
    headers: StoredHeaders;
    now: Date;
  },
): Promise<WebhookRow> {
  const rows = await tx.rows<WebhookRow>({
    text: `insert into webhooks (shard, account_id, id, url, events, description, secret, created_at, updated_at,
        header_names, headers, max_per_second, include)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12)
      returning ${COLUMNS}`,
    values: [
      shard,
      accountId,
      webhook.id,
      webhook.url,
      webhook.events,
      webhook.description,
      webhook.secret,
      webhook.now,
      webhook.headers.names,
      webhook.headers.sealed,
      webhook.maxPerSecond,
      webhook.include,
    ],
  });
  return rows[0]!;
}

/** Newest first. @param beforeId  null for the first page */
export async function listWebhooks(
  sql: Sql,
  { shard, accountId }: AccountRef,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<WebhookRow[]> {
  return await sql.rows<WebhookRow>({
    name: 'list_webhooks',
    isBrief: true,
    text: `select ${COLUMNS}
      from webhooks
      where shard = $1 and account_id = $2 and ${IS_OF_ACCOUNT} and ($3::text is null or id < $3)
      order by id desc
      limit $4`,
    values: [shard, accountId, beforeId, limit],
  });
}

export async function findWebhook(sql: Sql, { shard, accountId }: AccountRef, id: string): Promise<WebhookRow | null> {
  const rows = await sql.rows<WebhookRow>({
    name: 'find_webhook',
    isBrief: true,
    text: `select ${COLUMNS} from webhooks where shard = $1 and account_id = $2 and id = $3`,
    values: [shard, accountId, id],
  });
  return rows[0] ?? null;
}

type WebhookChange = {
  url?: string | undefined;
  events?: EventType[] | undefined;
  /** Null removes the description. */
  description?: string | null | undefined;
  active?: boolean | undefined;
  headers?: StoredHeaders | undefined;
  /** Null removes the limit. */
  maxPerSecond?: number | null | undefined;
  include?: IncludedPart[] | undefined;
  now: Date;
};

/**
 * Changes what is given. `active: false → true` starts the streak of failures anew; `true → false` is a manual
 * disabling; a value that is the same already changes nothing. Null: no such webhook.
 */
export async function updateWebhook(
  sql: Sql,
  { shard, accountId }: AccountRef,
  id: string,
  change: WebhookChange,
): Promise<WebhookRow | null> {
  const rows = await sql.rows<WebhookRow>({
    text: `update webhooks
      set url = coalesce($4, url),
        has_succeeded = has_succeeded and url = coalesce($4, url),
        events = coalesce($5::text[], events),
        description = case when $6::boolean then $7 else description end,
        active = coalesce($8, active),
        disabled_reason = case when $8 then null when active and not $8 then 'manual' else disabled_reason end,
        disabled_at = case when $8 then null when active and not $8 then $9::timestamptz else disabled_at end,
        consecutive_failures = case when not active and $8 then 0 else consecutive_failures end,
        failing_since = case when not active and $8 then null else failing_since end,
        header_names = coalesce($10::text[], header_names),
        headers = case when $10::text[] is null then headers else $11::bytea end,
        max_per_second = case when $12::boolean then $13::smallint else max_per_second end,
        include = coalesce($14::text[], include),
        updated_at = $9
      where shard = $1 and account_id = $2 and id = $3
      returning ${COLUMNS}`,
    values: [
      shard,
      accountId,
      id,
      change.url ?? null,
      change.events ?? null,
      change.description !== undefined,
      change.description ?? null,
      change.active ?? null,
      change.now,
      change.headers?.names ?? null,
      change.headers?.sealed ?? null,
      change.maxPerSecond !== undefined,
      change.maxPerSecond ?? null,
      change.include ?? null,
    ],
  });
  return rows[0] ?? null;
}

/** Sets a new secret. For `overlapMs` the previous secret signs too; with 0 it ends at once. */
export async function rotateSecret(
  sql: Sql,
  { shard, accountId }: AccountRef,
  id: string,
  { secret, overlapMs, now }: { secret: Buffer; overlapMs: number; now: Date },
): Promise<WebhookRow | null> {
  const previousEndsAt = overlapMs > 0 ? new Date(now.getTime() + overlapMs) : null;
  const rows = await sql.rows<WebhookRow>({
    text: `update webhooks
      set secret = $4,
        previous_secret = case when $5::timestamptz is not null then secret end,
        previous_secret_ends_at = $5,
        updated_at = $6
      where shard = $1 and account_id = $2 and id = $3
      returning ${COLUMNS}`,
    values: [shard, accountId, id, secret, previousEndsAt, now],
  });
  return rows[0] ?? null;
}

/**
 * Makes postponed first attempts due at once, at most 1,000: they may have waited for a secret that can be opened. Call
 * it in the transaction that changes the webhook.
 */
export async function wakeFirstAttempts(tx: Sql, shard: number, webhookId: string): Promise<number> {
  return await tx.run({
    text: `with clock as (
        select clock_timestamp() as moment
      )
      update deliveries d
      set next_at = (select moment from clock)
      from (
        select event_id, id
        from deliveries
        where shard = $1 and webhook_id > '' and webhook_id = $2 and attempt = 1 and next_at > (select moment from clock)
        order by webhook_id, next_at
        limit 1000
      ) f
      where d.shard = $1 and d.event_id > '' and d.event_id = f.event_id and d.id = f.id`,
    values: [shard, webhookId],
  });
}

/**
 * Makes the deliverers read the webhook's url, secrets, headers, limit and state again.
 * Call it in the transaction that changes them.
 */
export function notifyWebhookChanged(tx: Sql, webhookId: string): void {
  tx.notify('webhook_changed', webhookId);
}

/** The deleted webhook; null when there was none. */
export async function deleteWebhook(
  sql: Sql,
  { shard, accountId }: AccountRef,
  id: string,
): Promise<WebhookRow | null> {
  const rows = await sql.rows<WebhookRow>({
    text: `delete from webhooks where shard = $1 and account_id = $2 and id = $3 returning ${COLUMNS}`,
    values: [shard, accountId, id],
  });
  return rows[0] ?? null;
}
