import { ApiError } from '#sdk/client/index.ts';
import type { Me, Session as StoredSession } from '#sdk/wire.ts';
import { type AccountSession, changeSession, session } from '../session/session.ts';
import { api, apiOfCookie, clientsWith } from './client.ts';
import { isSignedOut } from './problem.ts';

/**
 * The session that the cookie of this browser names; null where there is none.
 * @throws VerbatimError  when no answer came, or the service cannot say at the moment
 */
export async function findSession(): Promise<AccountSession | null> {
  try {
    const { text } = await apiOfCookie.request('GET', '/v1/session');
    return await ofCookie(JSON.parse(text) as StoredSession);
  } catch (error) {
    if (error instanceof ApiError && !error.isRetryable) return null;
    throw error;
  }
}

/** Begins a session in place of the one that the browser had. @throws VerbatimError */
export async function beginSession(key: string): Promise<AccountSession> {
  const { text } = await clientsWith(key).api.request('POST', '/v1/session');
  const made: AccountSession = { kind: 'cookie', id: (JSON.parse(text) as StoredSession).id, user: null };
  const found = await findSession();
  // In a frame of another site the browser has kept no cookie.
  return found?.kind === 'cookie' && found.id === made.id ? made : { kind: 'key', key };
}

/** Ends the session, at the service too, and forgets the operator's token. @throws VerbatimError  when it goes on */
export async function signOut(): Promise<void> {
  if (session.get().account?.kind === 'cookie') {
    await api.request('DELETE', '/v1/session').catch((error: unknown) => {
      if (!isSignedOut(error)) throw error;
    });
  }
  changeSession({ account: null, admin: null });
}

/** @param stored  as the service shows it */
export async function ofCookie({ id, user_id: userId }: StoredSession): Promise<AccountSession> {
  if (userId === null) return { kind: 'cookie', id, user: null };
  const { text } = await apiOfCookie.request('GET', '/v1/me');
  return { kind: 'cookie', id, user: { id: userId, isOperator: (JSON.parse(text) as Me).operator } };
}
