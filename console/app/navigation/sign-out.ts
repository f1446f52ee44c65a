import { problemOf } from '../../api/problem.ts';
import { signOut } from '../../api/sign-in.ts';
import { say } from '../../ui/toast.tsx';

/** Signs out, or says why that failed: then the session goes on. */
export function signOutOrSay(): void {
  signOut().catch((error: unknown) => say(`You are still signed in. ${problemOf(error).message}`));
}
