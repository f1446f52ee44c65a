import type { Role } from '../../api/people.ts';

/** The roles, as they are offered. */
export const ROLES: readonly (readonly [Role, string])[] = [
  ['owner', 'owner'],
  ['member', 'member'],
  ['viewer', 'viewer'],
];

export const ROLE_HINT = 'Owners manage people and all keys. Members transcribe and create keys. Viewers only read.';
