import type { Actor } from '../accounts/account.ts';
import type { Runtime } from '../db/runtime.ts';
import { makeId } from '../platform/clock.ts';
import { eventLimits } from '../rules/accounts/change-limits.ts';
import type { AuditAction } from './actions.ts';
import { insertChange, secondsUntilFree } from './store.ts';

/** What happened. `accountId`: empty where it is of no account, or the account is not known. */
export type AuditEvent = {
  accountId: string;
  action: AuditAction;
  targetId: string;
  details?: Record<string, unknown>;
};

/**
 * Writes that something happened which changed nothing: always to the service's log, in one line with account and
 * address, and to the audit log unless the day has too many events already. It never fails: strangers can cause events.
 */
export async function recordEvent(
  { db, log }: Pick<Runtime, 'db' | 'log'>,
  { key, user, address, requestId }: Actor,
  { accountId, action, targetId, details = {} }: AuditEvent,
): Promise<void> {
  const line = {
    event: action,
    address,
    ...(accountId !== '' && { account: accountId }),
    ...(targetId !== '' && { target: targetId }),
    ...(key && { key_id: key.id }),
    ...(user && { user: user.id }),
    request_id: requestId,
  };
  log.info(line, 'event');
  try {
    for (const limit of eventLimits(key ? { keyId: key.id } : { address }, { action, targetId })) {
      if ((await secondsUntilFree(db, accountId, limit)) > 0) return;
    }
    const who = { keyId: key?.id ?? null, userId: user?.id ?? null, address, requestId };
    const entry = { id: makeId('aud'), accountId, action, targetId, details, keyHash: null };
    await insertChange(db, { ...entry, ...who, countedAs: 'event' });
  } catch (error) {
    log.warn({ err: error, request_id: requestId }, 'could not write an event to the audit log');
  }
}
