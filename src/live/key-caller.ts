import type { Caller, PermittedAccount } from '../accounts/account.ts';
import { authenticate, requireScope, requireUnsuspended } from '../http/authentication.ts';
import type { Call } from '../http/route.ts';

export type Callers = { find(keyHash: Buffer): Promise<Caller | null> };

/**
 * The caller whose API key a handshake carries, with the scope that live sessions need. Cookies are not read, so that
 * no page of another site can connect.
 * @param headers  of the key
 * @throws ApiError  401 or 403
 */
export async function keyCaller(
  callers: Callers,
  { note }: Pick<Call<unknown, unknown, unknown>, 'note'>,
  headers: Record<string, string | null>,
): Promise<Caller & { account: PermittedAccount }> {
  const rawHeaders = Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [name, value]));
  const findCaller = (keyHash: Buffer) => callers.find(keyHash);
  const caller = await authenticate({ method: 'GET', url: '/v1/live', rawHeaders }, { findCaller }, (fields) =>
    note(fields as Parameters<typeof note>[0]),
  );
  const { account } = caller;
  requireUnsuspended(account);
  requireScope(caller.key, 'jobs:write');
  return { ...caller, account };
}
