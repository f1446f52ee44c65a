import type { Account, Actor, Caller } from '../src/http/route.ts';

const KEY: Caller['key'] = { id: 'key_00000000000000000000000000', scopes: [], expiresAt: null };

/** The account as called with a key that may do everything and never expires. */
export function callerOf(account: Account): Caller {
  return { account, key: KEY };
}

/** Whoever calls a handler without a server. */
export const TEST_ACTOR: Actor = { key: KEY, address: '127.0.0.1', requestId: 'req_test' };
