import type { Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import { storedEmails } from '../../rules/accounts/email.ts';
import { type GivenPassword, hashPassword } from './credentials/password.ts';
import { findHashOfEmail, findUserByHash, hasOtherSalt, lockEmail, type UserRow } from './user-store.ts';

/**
 * The user whom an email and a password mean; null where they mean nobody. Several users may claim one email: their
 * passwords have one salt, so that a single hash finds the user, however many there are. An unknown email takes the
 * same time.
 * @returns  `hash`: of the password, for one more user with this email
 * @throws ApiError  503 while too many passwords of the address wait to be hashed
 */
export async function findUserByPassword(
  sql: Sql,
  givenEmail: string,
  password: GivenPassword,
): Promise<{ user: UserRow | null; hash: string }> {
  const hashes: string[] = [];
  for (const email of storedEmails(givenEmail)) {
    const hash = await hashPassword(password, await findHashOfEmail(sql, email, null));
    const user = await findUserByHash(sql, email, hash);
    if (user) return { user, hash };
    hashes.push(hash);
  }
  return { user: null, hash: hashes[0]! };
}

/** The hash of a new password of a user, with the salt of the other users of the email. */
export async function hashForUser(sql: Sql, { id, email }: UserRow, password: GivenPassword): Promise<string> {
  return await hashPassword(password, await findHashOfEmail(sql, email, id));
}

/**
 * Holds back other new passwords for the email until the transaction ends.
 * @param hash  the one that the transaction stores
 * @throws ApiError  409 when a user of the email has a password with another salt since the hash was made
 */
export async function requireOneSalt(tx: Sql, email: string, hash: { of: string; exceptId: string | null }) {
  await lockEmail(tx, email);
  if (!(await hasOtherSalt(tx, email, hash.of.slice(0, hash.of.lastIndexOf('$') + 1), hash.exceptId))) return;
  throw new ApiError('conflict', 'Another password was set for this email at the same time; try again.');
}
