import type { Sql } from '../../db/database.ts';
import type { AccountRef } from '../../rules/shard.ts';
import { COLUMNS, type WebhookRow } from './store.ts';

/** Sets the webhook for the alerts of an account: a new one, or in place of the one before, enabled. */
export async function setAlertsWebhook(
  tx: Sql,
  { shard, accountId }: AccountRef,
  { id, url, secret, now }: { id: string; url: string; secret: Buffer; now: Date },
): Promise<WebhookRow> {
  const rows = await tx.rows<WebhookRow>({
    text: `
      insert into webhooks as webhook (shard, account_id, id, url, events, secret, created_at, updated_at)
      values ($1, $2, $3, $4, '{}', $5, $6, $6)
      on conflict (shard, id) do update
      set url = excluded.url, events = excluded.events, secret = excluded.secret, previous_secret = null, previous_secret_ends_at = null,
        header_names = '{}', headers = null, active = true, disabled_reason = null, disabled_at = null,
        consecutive_failures = 0, failing_since = null, has_succeeded = false, updated_at = excluded.updated_at
      returning ${COLUMNS}`,
    values: [shard, accountId, id, url, secret, now],
  });
  return rows[0]!;
}
