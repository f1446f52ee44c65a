import { openStore, storageOf } from './store.ts';

// Who is signed in. Of an account, the service keeps a session that the cookie of the browser names: it holds in all
// tabs, and no script can read it. The operator's token is in sessionStorage:
// the browser keeps it for this tab, over reloads.

/**
 * `cookie`: a session with this id, of a user or of a key (null). `key`: an API key in the memory of the page, where
 * the browser keeps no cookie: in a frame of another site.
 */
export type AccountSession =
  | { kind: 'cookie'; id: string; user: { id: string; isOperator: boolean } | null }
  | { kind: 'key'; key: string };

/** The session of an account, the operator's token (or `BY_SESSION`), or both. */
export type Session = { account: AccountSession | null; admin: string | null };

/** In place of the operator's token: the session of the account is that of an operator. */
export const BY_SESSION = 'by session';

const SLOT = 'verbatim.admin';
const storage = storageOf(() => sessionStorage);

export const session = openStore<Session>({ account: null, admin: storage.getItem(SLOT) });

/** Signs in or, with null, out; here only: the service is told by `api/sign-in.ts`. */
export function changeSession(change: Partial<Session>): void {
  if (change.admin) storage.setItem(SLOT, change.admin);
  else if (change.admin === null) storage.removeItem(SLOT);
  const { account, admin } = { ...session.get(), ...change };
  const token = admin === BY_SESSION ? null : admin;
  const isOperator = account?.kind === 'cookie' && account.user?.isOperator === true;
  session.set({ account, admin: token ?? (isOperator ? BY_SESSION : null) });
}

/** Whether a user is signed in, not a key. */
export function hasUser({ account }: Session): boolean {
  return account?.kind === 'cookie' && account.user !== null;
}

/** Tells one sign-in of an account from the next; an empty text: there is none. */
export function nameOf(account: AccountSession | null): string {
  if (account === null) return '';
  return account.kind === 'cookie' ? account.id : account.key;
}
