import type { Actor } from '../accounts/account.ts';
import type { Sql } from '../db/database.ts';
import { ApiError } from '../http/api-error.ts';
import { makeId } from '../platform/clock.ts';
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
};

/** Days for which entries are kept. */
export const AUDIT_KEEP_DAYS = 365;
// An entry has about 300 bytes: an account fills at most 550 MB in a year.
const MAX_CHANGES_PER_DAY = 5_000;

/**
 * Writes who changed what, in the transaction of the change.
 * @throws ApiError  429 when the account's keys and users have made 5,000 changes within 24 hours; deleting is always
 *   allowed, because creating counted already
 */
export async function recordChange(tx: Sql, actor: Actor, change: Change): Promise<void> {
  const { key, user, address, requestId } = actor;
  if (key && !change.action.endsWith('.deleted')) {
    const seconds = Math.ceil(await secondsUntilFree(tx, change.accountId, MAX_CHANGES_PER_DAY));
    if (seconds > 0) throw tooManyChanges(seconds);
  }
  const { accountId, action, targetId, details = {}, keyHash = null } = change;
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
  });
}

function tooManyChanges(seconds: number): ApiError {
  const message = `The account's keys made ${MAX_CHANGES_PER_DAY} changes within 24 hours; try again in ${seconds} s.`;
  return new ApiError('rate_limited', message, {
    headers: { 'retry-after': String(seconds) },
    extra: { retry_after: seconds },
  });
}
