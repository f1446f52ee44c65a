import { randomBytes } from 'node:crypto';
import type { Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import { hashKey } from '../../http/authentication.ts';
import { type Answer, defineRoute, type Route } from '../../http/route.ts';
import { component, idSchema, type Static, Type, timeSchema } from '../../http/schema.ts';
import { makeId } from '../../platform/clock.ts';
import { clearSessionCookie, readSessionToken, writeSessionCookie } from '../../rules/network/session-cookie.ts';
import type { Account, CallerKey } from '../account.ts';
import type { AccountsRuntime } from '../keys/callers.ts';
import { lockKey } from '../keys/key-store.ts';
import {
  deleteOlderSessions,
  deleteSession,
  deleteSessionByHash,
  findSession,
  insertSession,
  type SessionRow,
} from '../keys/session-store.ts';

const SESSION_SECONDS = 12 * 3_600;
// Browsers of one key that are signed in at a time; beyond them the oldest sign-in ends.
const MAX_SESSIONS_PER_KEY = 100;
const TOKEN_BYTES = 32;
const PATH = '/v1/session';
const TAG = 'Session';

const sessionSchema = Type.Object(
  {
    id: idSchema('ses', 'ses_01kamz2f3q8r5t7v9wxyzabcde'),
    account_id: idSchema('acct', 'acct_01kamz2f3q8r5t7v9wxyzabcde'),
    key_id: idSchema('key', 'key_01kamz2f3q8r5t7v9wxyzabcde', {
      description: 'The key that signed in. The session has its scopes, and ends with it.',
    }),
    created_at: timeSchema,
    expires_at: timeSchema,
  },
  component('Session'),
);

/** How a browser signs in: the session is kept here, and the browser has a cookie that no script can read. */
export function sessionRoutes({ db, callers }: AccountsRuntime): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: PATH,
      auth: 'key',
      scope: 'any',
      summary: 'Sign in: begin a session of 12 hours, which the cookie of this answer names',
      description: `The cookie (\`HttpOnly\`, \`SameSite=Strict\`, over HTTPS \`Secure\`) then authenticates requests in place of the key,
with the scopes of the key. A request that changes something by the cookie alone also needs \`X-Session-Id\` with the id of the session,
and must come from a page of the service itself. A repeated answer (\`Idempotency-Key\`) comes without the cookie.`,
      tag: TAG,
      schema: { answers: { 201: sessionSchema } },
      async handle({ account, actor, header }): Promise<Answer & { status: 201; body: Static<typeof sessionSchema> }> {
        if (actor.sessionId !== null) {
          throw new ApiError('unauthenticated', 'Send the API key that signs in, in the header X-API-Key.');
        }
        const token = randomBytes(TOKEN_BYTES).toString('base64url');
        const before = readSessionToken([header('cookie') ?? '']);
        const session = await db.transaction(async (tx) => {
          // The browser forgets the session that it had.
          if (before !== null) await deleteSessionByHash(tx, hashKey(before));
          return await beginSession(tx, { account, key: actor.key!, token });
        });
        callers.forgetAll();
        const maxAgeSeconds = Math.ceil((session.expiresAt.getTime() - session.createdAt.getTime()) / 1000);
        const cookie = writeSessionCookie(token, { maxAgeSeconds, isHttps: isHttps(header('origin')) });
        return { status: 201, body: showSession(account, session), headers: { 'set-cookie': cookie } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: PATH,
      auth: 'session',
      summary: 'The session of this browser',
      tag: TAG,
      schema: { answers: { 200: sessionSchema } },
      async handle({ account, actor }) {
        const session = await findSession(db, { shard: account.shard, id: actor.sessionId! });
        if (!session) throw new ApiError('unauthenticated', 'The session has ended; sign in again.');
        return { status: 200, body: showSession(account, session) };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: PATH,
      auth: 'session',
      summary: 'Sign out: end the session, at once on this node and within a second on every other',
      tag: TAG,
      schema: { answers: { 204: null } },
      async handle({ account, actor, header }) {
        await deleteSession(db, { shard: account.shard, id: actor.sessionId! });
        callers.forgetAll();
        return { status: 204, headers: { 'set-cookie': clearSessionCookie(isHttps(header('origin'))) } };
      },
    }),
  ];
}

type Beginning = { account: Account; key: CallerKey; token: string };

/** @throws ApiError  401 for a key that was revoked meanwhile */
async function beginSession(tx: Sql, { account, key, token }: Beginning): Promise<SessionRow> {
  if (!(await lockKey(tx, account.id, key.id))) {
    throw new ApiError('unauthenticated', 'This API key was revoked; use another one.');
  }
  const owner = { shard: account.shard, id: key.id, expiresAt: key.expiresAt };
  await deleteOlderSessions(tx, owner, MAX_SESSIONS_PER_KEY - 1);
  return await insertSession(tx, {
    key: owner,
    id: makeId('ses'),
    hash: hashKey(token),
    keepMs: SESSION_SECONDS * 1000,
  });
}

function showSession(account: Account, session: SessionRow): Static<typeof sessionSchema> {
  return {
    id: session.id,
    account_id: account.id,
    key_id: session.keyId,
    created_at: session.createdAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
  };
}

/**
 * Whether the browser asked by HTTPS: the service itself speaks HTTP.
 * @param origin  which browsers send with each POST and DELETE
 */
function isHttps(origin: string | null): boolean {
  return origin?.startsWith('https://') ?? false;
}
