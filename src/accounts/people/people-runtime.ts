import type { Config } from '../../config/settings.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Actor, CallerUser } from '../account.ts';
import type { AccountsRuntime } from '../keys/callers.ts';

/** What the endpoints of users run on. `secretsKeysBase64`: SECRETS_KEY, separated by commas. */
export type PeopleRuntime = AccountsRuntime & { secretsKeysBase64: string };

/** Whether users sign in with passwords. */
export function hasPasswords({ passwordSignIn, oidcIssuer }: Config): boolean {
  return (passwordSignIn ?? (oidcIssuer === null ? 'on' : 'off')) === 'on';
}

/** @throws ApiError  409 where users do not sign in with passwords */
export function requirePasswords(config: Config): void {
  if (hasPasswords(config)) return;
  throw new ApiError('conflict', 'Passwords are off here (PASSWORD_SIGN_IN): sign in by OpenID Connect.');
}

/** The user of the session. @throws ApiError  403 for the session of a key */
export function requireUser({ user }: Actor): CallerUser {
  if (user) return user;
  throw new ApiError('missing_role', 'This is for users: sign in as one, not with an API key.');
}

/** @throws ApiError  403 for whoever is not an owner of the account */
export function requireOwner(actor: Actor): CallerUser {
  const user = requireUser(actor);
  if (user.role === 'owner') return user;
  throw new ApiError('missing_role', 'Only an owner of the account may do this; ask one.');
}
