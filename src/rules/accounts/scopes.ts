/** What a key may be allowed to do, each with its meaning. `docs/scopes.md` is made from this table. */
export const SCOPE_MEANING = {
  'jobs:read': 'read jobs, their transcripts and their streams',
  'jobs:write': 'transcribe, cancel, erase and change jobs',
  'webhooks:read': 'read webhooks, events and the delivery log',
  'webhooks:write': 'create, change, test and delete webhooks, rotate their secrets, send deliveries again',
  'usage:read': 'read the balance and the usage',
  'keys:write': "list, create and delete the account's keys",
} as const;

export type Scope = keyof typeof SCOPE_MEANING;

export const SCOPES = Object.keys(SCOPE_MEANING) as Scope[];

/** Whether a key may do what needs this scope. @param granted  empty: everything */
export function permits(granted: readonly Scope[], scope: Scope): boolean {
  return granted.length === 0 || granted.includes(scope);
}

/**
 * A scope that a new key would have and its maker has not; null when the maker may grant all of them.
 * @param granted  the maker's; empty: everything
 * @param asked    the new key's; empty: everything
 */
export function firstScopeBeyond(granted: readonly Scope[], asked: readonly Scope[]): Scope | null {
  const wanted = asked.length === 0 ? SCOPES : asked;
  return wanted.find((scope) => !permits(granted, scope)) ?? null;
}
