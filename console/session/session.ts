import { openStore, storageOf } from './store.ts';

// The secrets of the signed-in user. They are in sessionStorage: the browser keeps them for this tab, over reloads, until it
// is closed. Nothing else in the console stores them.

export type Who = 'key' | 'admin';

/** The API key of an account, the operator's token, or both. */
export type Session = { key: string | null; admin: string | null };

const SLOTS = { key: 'verbatim.key', admin: 'verbatim.admin' };
const storage = storageOf(() => sessionStorage);

export const session = openStore<Session>({
  key: storage.getItem(SLOTS.key),
  admin: storage.getItem(SLOTS.admin),
});

export function signIn(who: Who, secret: string): void {
  storage.setItem(SLOTS[who], secret);
  session.set({ ...session.get(), [who]: secret });
}

/** @param who  absent: the key and the operator's token */
export function signOut(who?: Who): void {
  for (const name of who ? [who] : (['key', 'admin'] as const)) {
    storage.removeItem(SLOTS[name]);
    session.set({ ...session.get(), [name]: null });
  }
}

/**
 * Signs in with the key of a link that the operator made (`#token=…`), and removes the key from the address and from the
 * history of the browser. Any other address is left alone.
 */
export function openPortalLink(): void {
  const token = readToken(location.hash);
  if (token === null) return;
  signOut();
  signIn('key', token);
  history.replaceState(null, '', '#/');
}

/** The key in a link's fragment; null for any other fragment. */
function readToken(hash: string): string | null {
  return /^#token=([!-~]+)$/.exec(hash)?.[1] ?? null;
}
