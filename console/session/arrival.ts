import { openStore } from './store.ts';

// What a link into the console brings with it, behind the #: the token of the setup or of an invitation, or why the
// OpenID provider's sign-in failed.

export type Arrival = { kind: 'setup' | 'invitation' | 'problem'; value: string };

const KINDS = { setup: 'setup', invitation: 'invitation', 'sign-in': 'problem' } as const;

/** Null: nothing. */
export const arrival = openStore<Arrival | null>(null);

/** Takes it out of the address and of the history of the browser; the sign-in view follows. */
export function takeArrival(): void {
  const [, name, value] = /^#(setup|invitation|sign-in)=([\w-]{1,100})$/.exec(location.hash) ?? [];
  if (name === undefined || value === undefined) return;
  history.replaceState(null, '', '#/sign-in');
  arrival.set({ kind: KINDS[name as keyof typeof KINDS], value });
}
