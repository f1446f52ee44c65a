import { lockAccount } from '../../accounts/store.ts';
import type { Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import { type Plan, WEBHOOK_LIMIT } from '../../rules/accounts/plan.ts';
import { webhookKindOf } from '../../rules/ids.ts';
import type { AccountRef } from '../../rules/shard.ts';
import { noSuchWebhook } from './own-webhook.ts';
import { countOtherActive, countWebhooks, findWebhook } from './store.ts';

/** @param plan  null: the account is deleted @throws ApiError  403 where the plan allows no further webhook */
export async function requireFreeWebhook(sql: Sql, owner: AccountRef, plan: Plan | null): Promise<void> {
  if (plan === null) throw noSuchWebhook();
  if ((await countWebhooks(sql, owner)) < WEBHOOK_LIMIT[plan]) return;
  throw new ApiError('plan_limit', `The ${plan} plan allows ${limitOf(plan)}; delete one before you create another.`);
}

/**
 * Permits that a webhook is enabled, until the transaction ends. After a change to a plan with fewer webhooks those
 * that are active go on, and a disabled one may be enabled in the place of another.
 * @throws ApiError  403
 */
export async function requireMayEnable(tx: Sql, owner: AccountRef, id: string): Promise<void> {
  const plan = await lockAccount(tx, { shard: owner.shard, id: owner.accountId });
  if (plan === null) throw noSuchWebhook();
  if (await mayEnable(tx, owner, { id, plan })) return;
  const message = `The ${plan} plan allows ${limitOf(plan)}, and as many are active; disable or delete others before you enable this one.`;
  throw new ApiError('plan_limit', message);
}

/** Whether the plan allows that a webhook is active. The caller holds the lock of the account. */
export async function mayEnable(
  sql: Sql,
  owner: AccountRef,
  { id, plan }: { id: string; plan: Plan },
): Promise<boolean> {
  // The others are no webhooks of the plan.
  if (webhookKindOf(id) !== 'account') return true;
  if ((await findWebhook(sql, owner, id))?.active) return true;
  return (await countOtherActive(sql, owner, id)) < WEBHOOK_LIMIT[plan];
}

function limitOf(plan: Plan): string {
  const limit = WEBHOOK_LIMIT[plan];
  return limit === 1 ? '1 webhook' : `${limit} webhooks`;
}
