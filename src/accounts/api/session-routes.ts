import { ApiError } from '../../http/api-error.ts';
import { type Answer, defineRoute, type Route } from '../../http/route.ts';
import type { Static } from '../../http/schema.ts';
import { clearSessionCookie } from '../../rules/network/session-cookie.ts';
import type { AccountsRuntime } from '../keys/callers.ts';
import { lockKey } from '../keys/key-store.ts';
import { deleteSession, findSession } from '../keys/session-store.ts';
import { isHttps, startSession } from '../keys/sessions.ts';
import { sessionSchema, showSession } from './session-view.ts';

const SESSION_SECONDS = 12 * 3_600;
const PATH = '/v1/session';
const TAG = 'Session';

/** How a browser signs in with a key: the session is kept here, the browser has a cookie that no script can read. */
export function sessionRoutes({ db, callers }: AccountsRuntime): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: PATH,
      event: 'session.created',
      auth: 'key',
      scope: 'any',
      summary: 'Sign in with a key: begin a session of 12 hours, which the cookie of this answer names',
      description: `The cookie (\`HttpOnly\`, \`SameSite=Strict\`, over HTTPS \`Secure\`) then authenticates requests in place of the key,
with the scopes of the key. A request that changes something by the cookie alone also needs \`X-Session-Id\` with the id of the session,
and must come from a page of the service itself. A repeated answer (\`Idempotency-Key\`) comes without the cookie.`,
      tag: TAG,
      schema: { answers: { 201: sessionSchema } },
      async handle({ account, actor, header }): Promise<Answer & { status: 201; body: Static<typeof sessionSchema> }> {
        if (actor.sessionId !== null) {
          throw new ApiError('unauthenticated', 'Send the API key that signs in, in the header X-API-Key.');
        }
        const { id, expiresAt } = actor.key!;
        const { session, cookie } = await db.transaction(async (tx) => {
          if (!(await lockKey(tx, account.id, id))) {
            throw new ApiError('unauthenticated', 'This API key was revoked; use another one.');
          }
          return await startSession(
            tx,
            { shard: account.shard, id, expiresAt },
            { keepMs: SESSION_SECONDS * 1000, header },
          );
        });
        callers.forgetAll();
        const body = showSession(session, { accountId: account.id, userId: null });
        return { status: 201, body, headers: { 'set-cookie': cookie } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: PATH,
      auth: 'session',
      isForSuspended: true,
      summary: 'The session of this browser',
      tag: TAG,
      schema: { answers: { 200: sessionSchema } },
      async handle({ account, actor }) {
        const session = await findSession(db, { shard: account.shard, id: actor.sessionId! });
        if (!session) throw new ApiError('unauthenticated', 'The session has ended; sign in again.');
        return { status: 200, body: showSession(session, { accountId: account.id, userId: actor.user?.id ?? null }) };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: PATH,
      auth: 'session',
      isForSuspended: true,
      event: 'session.ended',
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
