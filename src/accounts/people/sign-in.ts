import type { Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import { isFromOwnPage } from '../../rules/network/own-page.ts';
import { lockKey } from '../keys/key-store.ts';
import type { SessionRow } from '../keys/session-store.ts';
import { startSession } from '../keys/sessions.ts';
import { findUnsuspended } from '../store.ts';
import { accountOf, listMemberships, type Membership } from './member-store.ts';
import { findUser, holdUsers, type UserRow } from './user-store.ts';

const SESSION_MS = 7 * 24 * 3_600_000;
const FRESH_MS = 15 * 60_000;

type ReadHeader = (name: string) => string | null;

/** Where a user who signs in begins: the account used last of those that are not suspended, else of all. */
export async function firstMembership(tx: Sql, userId: string): Promise<Membership | null> {
  const memberships = await listMemberships(tx, userId);
  const unsuspended = await findUnsuspended(tx, memberships.map(accountOf));
  return memberships.find(({ accountId }) => unsuspended.has(accountId)) ?? memberships[0] ?? null;
}

/**
 * Begins the session of a user in one account.
 * @param expiresAt  of the session that it takes the place of; absent: the user has just signed in
 * @throws ApiError  401 when the user was removed meanwhile
 */
export async function startUserSession(
  tx: Sql,
  { shard, id, accountId }: Membership,
  header: ReadHeader,
  expiresAt: Date | null = null,
) {
  if (!(await lockKey(tx, accountId, id))) {
    throw new ApiError('unauthenticated', 'You do not belong to this account any more.');
  }
  return await startSession(tx, { shard, id, expiresAt }, { keepMs: SESSION_MS, header });
}

/** Whether the user of a session signed in within the last 15 minutes, whatever accounts the user went to since. */
export function isFresh({ expiresAt }: Pick<SessionRow, 'expiresAt'>, nowMs: number): boolean {
  const signedInAtMs = expiresAt.getTime() - SESSION_MS;
  return nowMs - signedInAtMs < FRESH_MS;
}

/**
 * The user whose password was checked, held until the transaction ends.
 * @throws ApiError  401 when the password was replaced meanwhile, or the user deleted
 */
export async function holdChecked(tx: Sql, checked: UserRow): Promise<UserRow> {
  await holdUsers(tx, [checked.id]);
  const user = await findUser(tx, checked.id);
  if (user?.passwordHash !== checked.passwordHash) throw wrongPassword();
  return user;
}

/** The same for an unknown email. @param advice  a sentence more */
export function wrongPassword(advice = ''): ApiError {
  return new ApiError('unauthenticated', `The email or the password is wrong. ${advice}`.trim());
}

/**
 * Refuses a request that a browser sends for a page of somebody else, which could sign a user in as another.
 * @throws ApiError  401
 */
export function requireOwnPage(header: ReadHeader): void {
  const [site, origin, host] = ['sec-fetch-site', 'origin', 'host'].map((name) => header(name) ?? undefined);
  const isBrowser = site !== undefined || origin !== undefined;
  if (!isBrowser || isFromOwnPage('POST', { site, origin, host })) return;
  throw new ApiError(
    'unauthenticated',
    'Browsers sign in from pages of the service itself only; a proxy must pass on the header Host.',
  );
}
