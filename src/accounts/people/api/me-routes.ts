import { recordChange } from '../../../audit/record.ts';
import type { Sql } from '../../../db/database.ts';
import { ApiError } from '../../../http/api-error.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { component, type Static, Type } from '../../../http/schema.ts';
import type { Account, Actor } from '../../account.ts';
import { sessionSchema } from '../../api/session-view.ts';
import { findSession, type SessionRow } from '../../keys/session-store.ts';
import { findNames } from '../../store.ts';
import type { Attempts } from '../credentials/attempts.ts';
import { isPassword } from '../credentials/password.ts';
import { hashForUser, requireOneSalt } from '../find-by-password.ts';
import { accountOf, deleteSessionsOfUser, listMemberships } from '../member-store.ts';
import { type PeopleRuntime, requirePasswords, requireUser } from '../people-runtime.ts';
import { holdChecked, isFresh } from '../sign-in.ts';
import { findUser, holdUsers, type UserRow, updateUser } from '../user-store.ts';
import { answerWithSession } from './answer-with-session.ts';
import { accountIdSchema, nameSchema, newPasswordSchema, passwordSchema, roleSchema, userIdSchema } from './fields.ts';

const TAG = 'Users';

const meSchema = Type.Object(
  {
    id: userIdSchema,
    name: Type.String(),
    email: Type.String(),
    has_password: Type.Boolean(),
    operator: Type.Boolean({ description: 'Whether the session permits `/admin/v1` too.' }),
    role: roleSchema,
    account_id: accountIdSchema,
    accounts: Type.Array(Type.Object({ id: accountIdSchema, name: Type.String(), role: roleSchema }), {
      description: 'All accounts of the user.',
    }),
  },
  component('Me'),
);

/** What users see and change of themselves. */
export function meRoutes(runtime: PeopleRuntime, attempts: Attempts): Route[] {
  const { db } = runtime;
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/me',
      auth: 'session',
      isForSuspended: true,
      summary: 'The user who is signed in, and the accounts of the user',
      errors: ['missing_role'],
      tag: TAG,
      schema: { answers: { 200: meSchema } },
      async handle({ account, actor }) {
        const { id } = requireUser(actor);
        return { status: 200, body: await showMe(runtime, await findUser(db, id), account.id) };
      },
    }),
    changeRoute(runtime, attempts),
    switchRoute(runtime),
  ];
}

function changeRoute(runtime: PeopleRuntime, attempts: Attempts): Route {
  const { db, config, callers, clock } = runtime;
  return defineRoute({
    method: 'PATCH',
    path: '/v1/me',
    auth: 'session',
    summary: 'Change the own name or password; a new password ends the other sessions of the user',
    description:
      'A new password needs the current one. A user without a password, who came by OpenID Connect, must have signed in within the last 15 minutes.',
    errors: ['missing_role', 'conflict'],
    tag: TAG,
    schema: {
      body: Type.Object(
        {
          name: Type.Optional(nameSchema),
          password: Type.Optional(newPasswordSchema),
          current_password: Type.Optional(passwordSchema),
        },
        { minProperties: 1 },
      ),
      answers: { 200: meSchema },
    },
    async handle({ account, actor, body: { name, password, current_password: current } }) {
      const { id } = requireUser(actor);
      const { address } = actor;
      if (password !== undefined) requirePasswords(config);
      const user = await findUser(db, id);
      if (password !== undefined && user?.passwordHash) {
        const { passwordHash } = user;
        await attempts.guessInSession(actor.sessionId!, async () => {
          if (!(await isPassword({ password: current ?? '', address }, passwordHash))) throw wrongCurrent();
        });
      } else if (password !== undefined) {
        const session = await requireOwnSession(db, { account, actor });
        if (!isFresh(session, clock.now())) throw staleSession();
      }
      const passwordHash = password === undefined || !user ? null : await hashForUser(db, user, { password, address });
      const changed = await db.transaction(async (tx) => {
        if (user && passwordHash !== null) {
          await holdChecked(tx, user);
          await requireOneSalt(tx, user.email, { of: passwordHash, exceptId: id });
        }
        const row = await updateUser(tx, id, { name: name ?? null, passwordHash });
        if (passwordHash !== null) {
          await deleteSessionsOfUser(tx, id, actor.sessionId);
          const change = { accountId: account.id, targetId: id, details: { password: true } };
          await recordChange(tx, actor, { action: 'user.changed', isDefence: true, ...change });
        }
        return row;
      });
      callers.forgetAll();
      return { status: 200, body: await showMe(runtime, changed, account.id) };
    },
  });
}

function switchRoute(runtime: PeopleRuntime): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/me/account',
    auth: 'session',
    isForSuspended: true,
    summary: 'Go to another account of the user: a new session in it takes the place of this one',
    description:
      'The new session ends when this one would have ended. A repeated answer (`Idempotency-Key`) comes without the cookie.',
    errors: ['missing_role', 'not_found'],
    tag: TAG,
    schema: { body: Type.Object({ account_id: Type.String() }), answers: { 201: sessionSchema } },
    async handle({ account, actor, body: { account_id: accountId }, header, note }) {
      const { id } = requireUser(actor);
      return await answerWithSession(runtime, { actor, header, note }, async (tx) => {
        await holdUsers(tx, [id]);
        const { expiresAt } = await requireOwnSession(tx, { account, actor });
        const membership = (await listMemberships(tx, id)).find((each) => each.accountId === accountId);
        if (membership) return { ...membership, expiresAt };
        throw new ApiError('not_found', 'You are not a user of such an account.', { param: 'account_id' });
      });
    },
  });
}

async function showMe(
  { db }: PeopleRuntime,
  user: UserRow | null,
  accountId: string,
): Promise<Static<typeof meSchema>> {
  const memberships = user ? await listMemberships(db, user.id) : [];
  const here = memberships.find((each) => each.accountId === accountId);
  // Removed while the request was under way.
  if (!user || !here) throw sessionEnded();
  const { id, name, email, isOperator: operator } = user;
  const names = await findNames(db, memberships.map(accountOf));
  const accounts = memberships
    .filter((each) => names.has(each.accountId))
    .map((each) => ({ id: each.accountId, name: names.get(each.accountId)!, role: each.role }));
  const own = { id, name, email, has_password: user.passwordHash !== null, operator };
  return { ...own, role: here.role, account_id: accountId, accounts };
}

/** @throws ApiError  401 when the session of the request has ended meanwhile */
async function requireOwnSession(
  sql: Sql,
  { account, actor }: { account: Account; actor: Actor },
): Promise<SessionRow> {
  const session = await findSession(sql, { shard: account.shard, id: actor.sessionId! });
  if (!session) throw sessionEnded();
  return session;
}

function wrongCurrent(): ApiError {
  return new ApiError('invalid_request', 'The current password is wrong.', { param: 'current_password' });
}

function sessionEnded(): ApiError {
  return new ApiError('unauthenticated', 'The session has ended; sign in again.');
}

function staleSession(): ApiError {
  return new ApiError(
    'conflict',
    'To choose a first password, sign out, sign in again, and choose it within 15 minutes.',
  );
}
