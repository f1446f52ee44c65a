import { SCOPES, type Scope } from './scopes.ts';

/** All roles, each with what it permits. */
export const ROLE_MEANING = {
  owner: 'everything in the account: also its users, invitations, and all keys',
  member: 'jobs, webhooks, usage, and keys of their own',
  viewer: 'reading jobs, webhooks, events and usage',
} as const;

export type Role = keyof typeof ROLE_MEANING;

export const ROLES = Object.keys(ROLE_MEANING) as Role[];

/** The scopes of a user's session. Empty: all. */
export function scopesOfRole(role: Role): readonly Scope[] {
  if (role === 'owner') return [];
  return role === 'member' ? SCOPES : SCOPES.filter((scope) => scope.endsWith(':read'));
}

/** The scopes that a user may give to a key: a member's key must not delete the keys of others. Empty: all. */
export function grantableScopes(role: Role): readonly Scope[] {
  return role === 'owner' ? [] : scopesOfRole(role).filter((scope) => scope !== 'keys:write');
}

/** The one that permits more. */
export function higherRole(one: Role, other: Role): Role {
  return ROLES.indexOf(one) < ROLES.indexOf(other) ? one : other;
}
