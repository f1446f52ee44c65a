import { problemOf } from '../../api/problem.ts';
import { signOut } from '../../api/sign-in.ts';
import { mayDiscard } from '../../router/address.ts';
import { say } from '../../ui/toast.tsx';

/** Signs out, or says why that failed: then the session goes on. Asks first where something is not saved. */
export function signOutOrSay(): void {
  if (!mayDiscard()) return;
  signOut().catch((error: unknown) => say(`You are still signed in. ${problemOf(error).message}`));
}
