import type { Actor } from '../accounts/account.ts';
import type { Sql } from '../db/database.ts';
import { rateLimited } from '../http/api-error.ts';
import { makeId } from '../platform/clock.ts';
import { type ChangeLimit, changeLimits } from '../rules/accounts/change-limits.ts';
import type { AuditAction } from './actions.ts';
import { insertChange, secondsUntilFree } from './store.ts';

type Change = {
  accountId: string;
  action: AuditAction;
  targetId: string;
  /** Names of fields, plans, amounts, scopes: never a secret, a URL or a body. */
  details?: Record<string, unknown>;
  /** SHA-256 of a key that is deleted; absent for other changes. */
  keyHash?: Buffer;
  /** Whether it takes a right away, or makes a secret useless; absent: no. */
  isDefence?: boolean;
};

/** Days for which entries are kept. */
export const AUDIT_KEEP_DAYS = 365;

/**
 * Writes who changed what, in the transaction of the change.
 * @throws ApiError  429 when the key or the user, or all of the account, have made too many changes within 24 hours;
 *   deleting is always allowed, because creating counted already
 */
export async function recordChange(tx: Sql, actor: Actor, change: Change): Promise<void> {
  const { key, user, address, requestId } = actor;
  const { accountId, action, targetId, details = {}, keyHash = null, isDefence = false } = change;
  const isOwner = user?.role === 'owner';
  if (key && !action.endsWith('.deleted')) {
    const limits = changeLimits({ keyId: key.id, isOwner, isDefence });
    for (const limit of limits) await requireWithin(tx, accountId, limit);
  }
  await insertChange(tx, {
    id: makeId('aud'),
    accountId,
    action,
    targetId,
    details,
    keyHash,
    keyId: key?.id ?? null,
    userId: user?.id ?? null,
    address,
    requestId,
    countedAs: isOwner ? 'owner_change' : 'change',
  });
}

async function requireWithin(tx: Sql, accountId: string, limit: ChangeLimit): Promise<void> {
  const seconds = Math.ceil(await secondsUntilFree(tx, accountId, limit));
  if (seconds === 0) return;
  const who = limit.keyId === undefined ? "The account's keys" : 'This key or user';
  const message = `${who} made ${limit.most} changes within 24 hours; try again in ${seconds} s.`;
  throw rateLimited(message, seconds);
}
