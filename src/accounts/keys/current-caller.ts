import type { Sql } from '../../db/database.ts';
import { type ApiError, unauthenticated } from '../../http/api-error.ts';
import { requireUnsuspended } from '../../http/authentication.ts';
import type { Scope } from '../../rules/accounts/scopes.ts';
import type { CallerAccount, CallerName, PermittedAccount } from '../account.ts';
import { findAccountOfKey } from './caller-store.ts';
import { MAX_AGE_MS } from './callers.ts';
import { findValidKeys } from './key-store.ts';

/**
 * The account of a caller as it is now. To be asked before anything is done for a caller that was admitted earlier: by
 * the request of an upload that has just ended, by a secret or a token, or by the handshake of a connection.
 * @param scope  that the key must still have
 * @throws ApiError  401 when the key or the account has ended or the key lacks the scope, 403 for a suspended account
 */
export async function requireCurrentCaller(
  sql: Sql,
  { shard, accountId, keyId }: CallerName,
  scope: Scope,
): Promise<PermittedAccount> {
  const keys = keyId === null ? [] : [{ shard, id: keyId }];
  const [account, valid] = await Promise.all([
    findAccountOfKey(sql, { shard, id: accountId }),
    findValidKeys(sql, keys, { scope }),
  ]);
  if (account === null || keyId === null || !valid.has(keyId)) throw ended();
  requireUnsuspended(account);
  return account;
}

/** Whether an account was looked up so short a time ago that a new request would not look it up again. */
export function isCurrent({ lookedUpAtMs }: Pick<CallerAccount, 'lookedUpAtMs'>): boolean {
  return lookedUpAtMs !== undefined && performance.now() - lookedUpAtMs < MAX_AGE_MS;
}

function ended(): ApiError {
  const message = 'The API key, or the session, was revoked, has expired or may not do this any more; use another one.';
  return unauthenticated(message);
}
