import { Verbatim, VerbatimAdmin } from '#sdk/client/index.ts';
import { BY_SESSION, session } from '../session/session.ts';

// Repetitions are made by the query client, which shows that it waits. `allowBrowser`: the secrets are the user's own.
const options = { baseUrl: location.origin, allowBrowser: true, maxRetries: 0 };

/** The API of the account that is signed in: by the cookie of its session, which the requests name, or by its key. */
export const api = new Verbatim({
  ...options,
  apiKey() {
    const { account } = session.get();
    return account?.kind === 'key' ? account.key : undefined;
  },
  headers() {
    const { account } = session.get();
    return account?.kind === 'cookie' ? { 'x-session-id': account.id } : undefined;
  },
  fetch: withCookie,
});

/** The API of the operator. */
export const operator = new VerbatimAdmin({
  ...options,
  adminToken: () => session.get().admin ?? '',
  fetch: asOperator,
});

/** The API with the cookie alone, to find out which session it names. */
export const apiOfCookie = new Verbatim({ ...options, maxRetries: 2, fetch: withCookie });

/** The API for whoever has no account: nothing is sent that tells who it is. */
export const apiOfNobody = new Verbatim(options);

/** Clients with another secret than that of the session, to find out whose it is, and to sign in with it. */
export const clientsWith = (secret: string) => ({
  api: new Verbatim({ ...options, apiKey: secret, fetch: withCookie }),
  operator: new VerbatimAdmin({ ...options, adminToken: secret }),
});

/** With the operator's token, or by the session of a user who is an operator. */
function asOperator(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const { account, admin } = session.get();
  if (admin !== BY_SESSION || account?.kind !== 'cookie') return fetch(input, init);
  const headers = new Headers(init?.headers);
  headers.delete('authorization');
  headers.set('x-session-id', account.id);
  return withCookie(input, { ...init, headers });
}

/** The SDK sends no cookies by itself. */
function withCookie(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  return fetch(input, { ...init, credentials: 'same-origin' });
}
