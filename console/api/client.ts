import { Verbatim, VerbatimAdmin } from '#sdk/client/index.ts';
import { session } from '../session/session.ts';

// Repetitions are made by the query client, which shows that it waits. `allowBrowser`: the key is the user's own.
const options = { baseUrl: location.origin, allowBrowser: true, maxRetries: 0 };

/** The API of the account whose key the user signed in with. */
export const api = new Verbatim({ ...options, apiKey: () => session.get().key ?? '' });

/** The API of the operator. */
export const operator = new VerbatimAdmin({ ...options, adminToken: () => session.get().admin ?? '' });

/** Clients with another secret than that of the session, to find out whose it is. */
export const clientsWith = (secret: string) => ({
  api: api.with({ apiKey: secret }),
  operator: new VerbatimAdmin({ ...options, adminToken: secret }),
});
