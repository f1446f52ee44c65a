import type { Sql } from '../../db/database.ts';
import { type ApiError, unauthenticated } from '../../http/api-error.ts';
import { requireUnsuspended } from '../../http/authentication.ts';
import type { Scope } from '../../rules/accounts/scopes.ts';
import type { CallerName, PermittedAccount } from '../account.ts';
import { findAccountOfKey } from './caller-store.ts';
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

function ended(): ApiError {
  const message = 'The API key, or the session, was revoked, has expired or may not do this any more; use another one.';
  return unauthenticated(message);
}
