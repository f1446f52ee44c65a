import { randomBytes } from 'node:crypto';
import type { Sql } from '../../db/database.ts';
import { hashKey } from '../../http/authentication.ts';
import { makeId } from '../../platform/clock.ts';
import { readSessionToken, writeSessionCookie } from '../../rules/network/session-cookie.ts';
import { deleteOlderSessions, deleteSessionByHash, insertSession, type SessionRow } from './session-store.ts';

// Browsers of one key or one membership that are signed in at a time; beyond them the oldest sign-in ends.
const MAX_SESSIONS_PER_KEY = 100;
const TOKEN_BYTES = 32;

/** Reads a header of the request; null without it. */
type ReadHeader = (name: string) => string | null;

/**
 * Begins a session in place of the one that the browser had. Returns it with the header Set-Cookie of the answer.
 * @param key  a key or a membership that the transaction has locked or inserted
 */
export async function startSession(
  tx: Sql,
  key: { shard: number; id: string; expiresAt: Date | null },
  { keepMs, header }: { keepMs: number; header: ReadHeader },
): Promise<{ session: SessionRow; cookie: string }> {
  const before = readSessionToken([header('cookie') ?? '']);
  if (before !== null) await deleteSessionByHash(tx, hashKey(before));
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  await deleteOlderSessions(tx, key, MAX_SESSIONS_PER_KEY - 1);
  const session = await insertSession(tx, { key, id: makeId('ses'), hash: hashKey(token), keepMs });
  const maxAgeSeconds = Math.ceil((session.expiresAt.getTime() - session.createdAt.getTime()) / 1000);
  return { session, cookie: writeSessionCookie(token, { maxAgeSeconds, isHttps: isHttps(header('origin')) }) };
}

/**
 * Whether the browser asked by HTTPS: the service itself speaks HTTP.
 * @param origin  which browsers send with each POST and DELETE
 */
export function isHttps(origin: string | null): boolean {
  return origin?.startsWith('https://') ?? false;
}
