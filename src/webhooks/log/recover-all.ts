import { lockAccount } from '../../accounts/store.ts';
import type { Database } from '../../db/database.ts';
import { shardOf } from '../../rules/shard.ts';
import { type EventPlace, findMissedEvents, insertResends, lockRecovery } from '../deliveries/resend-store.ts';
import { listAllWebhooks } from '../endpoints/operator-store.ts';
import { notifyWebhookChanged, updateWebhook, type WebhookRow } from '../endpoints/store.ts';
import { mayEnable } from '../endpoints/webhook-limit.ts';

type Wanted = {
  /** Events from then on. */
  since: Date;
  /**
   * Webhooks that the service disabled from then on are enabled first, as many as their plan allows; null: disabled
   * webhooks are left out.
   */
  disabledSince: Date | null;
  isDryRun: boolean;
  now: Date;
};

export type RecoveredAll = {
  /** Webhooks that missed events, or were enabled. */
  webhooks: number;
  enabled: number;
  events: number;
};

const PAGE = 100;
// Of 2,000 events each, per webhook.
const MAX_BATCHES = 50;

/**
 * Sends the events that webhooks of all accounts did not accept again, after an outage that was not the receivers'
 * fault. What ran before a crash is done; the same call finds the rest.
 */
export async function recoverAllWebhooks(db: Database, wanted: Wanted): Promise<RecoveredAll> {
  const total = { webhooks: 0, enabled: 0, events: 0 };
  for (let beforeId: string | null = null; ; ) {
    const page = await listAllWebhooks(db, { active: null, accountId: null, limit: PAGE, beforeId });
    for (const webhook of page) {
      const isEnabled = isDisabledSince(webhook, wanted.disabledSince) && (await enable(db, webhook, wanted));
      if (!webhook.active && !isEnabled) continue;
      const events = await recoverOne(db, webhook, wanted);
      total.events += events;
      total.enabled += isEnabled ? 1 : 0;
      total.webhooks += isEnabled || events > 0 ? 1 : 0;
    }
    if (page.length < PAGE) return total;
    beforeId = page.at(-1)!.id;
  }
}

/** By the service, not by its owner. */
function isDisabledSince({ active, disabledReason, disabledAt }: WebhookRow, since: Date | null): boolean {
  return since !== null && !active && disabledReason === 'consecutive_failures' && disabledAt! >= since;
}

/** Enables a webhook, or only says whether it would, if the plan of its account allows it. */
async function enable(
  db: Database,
  { id, accountId }: { id: string; accountId: string },
  { isDryRun, now }: Wanted,
): Promise<boolean> {
  const owner = { shard: shardOf(accountId), accountId };
  return await db.transaction(async (tx) => {
    const plan = await lockAccount(tx, { shard: owner.shard, id: accountId });
    if (plan === null || !(await mayEnable(tx, owner, { id, plan }))) return false;
    if (isDryRun) return true;
    await updateWebhook(tx, owner, id, { active: true, now });
    notifyWebhookChanged(tx, id);
    return true;
  });
}

async function recoverOne(
  db: Database,
  { id, accountId }: { id: string; accountId: string },
  { since, isDryRun }: Wanted,
): Promise<number> {
  const resend = { shard: shardOf(accountId), accountId, webhookId: id };
  let after: EventPlace | null = { at: since.toISOString(), id: '' };
  let events = 0;
  for (let batch = 1; after !== null && batch <= MAX_BATCHES; batch += 1) {
    const place: EventPlace = after;
    const missed = await db.transaction(async (tx) => {
      if (!isDryRun) await lockRecovery(tx, id);
      const found = await findMissedEvents(tx, resend, { after: place, until: null, eventType: null, status: null });
      if (!isDryRun) await insertResends(tx, resend, found.ids);
      return found;
    });
    events += missed.ids.length;
    after = missed.next;
  }
  return events;
}
