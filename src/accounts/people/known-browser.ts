import type { Sql } from '../../db/database.ts';
import { storedEmails } from '../../rules/accounts/email.ts';
import { readBrowserCookie, writeBrowserCookie } from '../../rules/network/session-cookie.ts';
import { isHttps } from '../keys/sessions.ts';
import { readSigned, signText } from './credentials/signed-text.ts';
import type { PeopleRuntime } from './people-runtime.ts';
import { findUser } from './user-store.ts';

// A browser that has signed a user in is known for half a year. What it may: be let in with the right password while
// strangers use up the limit of wrong ones.
const KNOWN_SECONDS = 180 * 86_400;
const PURPOSE = 'known browser';

type ReadHeader = (name: string) => string | null;

/** The header Set-Cookie by which the browser is known as one that has signed the user in. */
export function knownBrowserCookie(
  { clock, secretsKeysBase64 }: PeopleRuntime,
  userId: string,
  header: ReadHeader,
): string {
  const endsAt = Math.ceil(clock.now() / 1000) + KNOWN_SECONDS;
  const value = signText(`${userId}.${endsAt}`, PURPOSE, secretsKeysBase64);
  return writeBrowserCookie(value, { maxAgeSeconds: KNOWN_SECONDS, isHttps: isHttps(header('origin')) });
}

/** The user whom this browser has signed in before, if the email is theirs; else null. */
export async function findKnownUserId(
  { clock, secretsKeysBase64 }: PeopleRuntime,
  sql: Sql,
  { email, header }: { email: string; header: ReadHeader },
): Promise<string | null> {
  const cookie = readBrowserCookie([header('cookie') ?? '']);
  const text = cookie === null ? null : readSigned(cookie, PURPOSE, secretsKeysBase64);
  const [userId = '', endsAt = ''] = text?.split('.') ?? [];
  if (text === null || Number(endsAt) * 1000 <= clock.now()) return null;
  const user = await findUser(sql, userId);
  return user && storedEmails(email).includes(user.email) ? user.id : null;
}
