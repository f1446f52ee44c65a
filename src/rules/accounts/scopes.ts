/** All scopes, each with what it permits. `docs/scopes.md` is generated from this table. */
export const SCOPE_MEANING = {
  'jobs:read': 'read jobs, their transcripts, stored audio and event streams',
  'jobs:write': 'transcribe audio; retry, cancel and erase jobs; edit transcripts; with jobs:read, share them by links',
  'webhooks:read': 'read webhooks, events and the delivery log',
  'webhooks:write': 'create, change, test and delete webhooks, rotate their secrets, redeliver and recover events',
  'usage:read': 'read the balance, the ledger and the usage',
  'keys:write': "list, create and delete the account's keys",
} as const;

export type Scope = keyof typeof SCOPE_MEANING;

export const SCOPES = Object.keys(SCOPE_MEANING) as Scope[];

/** Whether a key has this scope. @param granted  empty: all scopes */
export function permits(granted: readonly Scope[], scope: Scope): boolean {
  return granted.length === 0 || granted.includes(scope);
}

/**
 * The first scope of a new key that its creator lacks; null when the creator may grant all of them.
 * @param granted  scopes of the creator; empty: all
 * @param asked    scopes of the new key; empty: all
 */
export function firstScopeBeyond(granted: readonly Scope[], asked: readonly Scope[]): Scope | null {
  const wanted = asked.length === 0 ? SCOPES : asked;
  return wanted.find((scope) => !permits(granted, scope)) ?? null;
}
