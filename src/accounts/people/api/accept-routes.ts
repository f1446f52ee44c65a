import type { Sql } from '../../../db/database.ts';
import { ApiError } from '../../../http/api-error.ts';
import { hashKey } from '../../../http/authentication.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { component, nullable, Type, timeSchema } from '../../../http/schema.ts';
import { normalEmail } from '../../../rules/accounts/email.ts';
import { sessionSchema } from '../../api/session-view.ts';
import { findAccount } from '../../store.ts';
import type { Attempts } from '../attempts.ts';
import { findInvitation, type InvitationRow } from '../invitation-store.ts';
import { acceptInvitation, type NewPerson, noInvitation } from '../join.ts';
import { deleteSessionsOfUser } from '../member-store.ts';
import { hashPassword, isPassword } from '../password.ts';
import { type PeopleRuntime, requirePasswords } from '../people-runtime.ts';
import { requireOwnPage, wrongPassword } from '../sign-in.ts';
import { findUserByEmail, replaceSignIn, type UserRow } from '../user-store.ts';
import { answerWithSession } from './answer-with-session.ts';
import { emailSchema, MIN_PASSWORD_CHARS, nameSchema, passwordSchema, roleSchema, tokenSchema } from './fields.ts';

const TAG = 'Sign-in';

const openedSchema = Type.Object(
  {
    account_name: Type.String(),
    role: roleSchema,
    email: nullable(Type.String(), 'The only address that may accept it; null: any.'),
    expires_at: timeSchema,
  },
  component('OpenedInvitation'),
);

/** What whoever has the link of an invitation does with it. */
export function acceptRoutes(runtime: PeopleRuntime, attempts: Attempts): Route[] {
  return [openRoute(runtime, attempts), acceptRoute(runtime, attempts)];
}

function openRoute({ db }: PeopleRuntime, attempts: Attempts): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/invitations/open',
    auth: 'none',
    summary: 'What an invitation is for; it stays open',
    errors: ['unauthenticated', 'not_found', 'rate_limited'],
    tag: TAG,
    schema: { body: Type.Object({ token: tokenSchema }), answers: { 200: openedSchema } },
    async handle({ body, actor, header }) {
      requireOwnPage(header);
      attempts.add(actor.address, null);
      const invitation = await openInvitation(db, body.token);
      const account = await findAccount(db, invitation.accountId);
      if (!account) throw noInvitation();
      const { role, email, expiresAt } = invitation;
      return {
        status: 200,
        body: { account_name: account.name, role, email, expires_at: expiresAt.toISOString() },
      };
    },
  });
}

function acceptRoute(runtime: PeopleRuntime, attempts: Attempts): Route {
  const { db, config } = runtime;
  return defineRoute({
    method: 'POST',
    path: '/v1/invitations/accept',
    auth: 'none',
    summary: 'Accept an invitation, and sign in',
    description: `Somebody new gives a name and a password of ${MIN_PASSWORD_CHARS} characters or more. The email and the
password of a user who exists add the account to those of the user.`,
    errors: ['unauthenticated', 'not_found', 'conflict', 'rate_limited'],
    tag: TAG,
    schema: {
      body: Type.Object({
        token: tokenSchema,
        email: emailSchema,
        password: passwordSchema,
        name: Type.Optional(nameSchema),
      }),
      answers: { 201: sessionSchema },
    },
    async handle({ body, actor, header, note }) {
      requireOwnPage(header);
      requirePasswords(config);
      const email = normalEmail(body.email);
      attempts.add(actor.address, email);
      const invitation = await openInvitation(db, body.token);
      if (invitation.email !== null && invitation.email !== email) {
        throw new ApiError('invalid_request', 'The invitation is for another email; sign up with that one.', {
          param: 'email',
        });
      }
      const who = await identify(runtime, invitation, { ...body, email });
      return await answerWithSession(runtime, { header, note }, async (tx) => {
        const membership = await acceptInvitation(tx, actor, { invitation, who });
        if ('user' in who && who.newPasswordHash) await replacePassword(tx, who.user.id, who.newPasswordHash);
        return membership;
      });
    },
  });
}

async function openInvitation(sql: Sql, token: string): Promise<InvitationRow> {
  const invitation = await findInvitation(sql, hashKey(token));
  if (!invitation) throw noInvitation();
  return invitation;
}

/** `newPasswordHash`: takes the place of all by which the user signed in before. */
type Who = { user: UserRow; newPasswordHash?: string } | { person: NewPerson };
type Given = { email: string; password: string; name?: string };

/**
 * The user who accepts: by the password, by an operator's invitation for this email, or a new one.
 * @throws ApiError  400 or 401
 */
async function identify(
  { db }: PeopleRuntime,
  invitation: InvitationRow,
  { email, password, name }: Given,
): Promise<Who> {
  const user = await findUserByEmail(db, email);
  if (user) return await identifyKnown(user, invitation, password);
  requireGoodPassword(password);
  if (name === undefined) {
    throw new ApiError('invalid_request', 'name is missing: how others see you.', { param: 'name' });
  }
  return { person: { email, name, passwordHash: await hashPassword(password), oidc: null } };
}

async function identifyKnown(user: UserRow, { email, isByOperator }: InvitationRow, password: string): Promise<Who> {
  if (isByOperator && email === user.email) {
    requireGoodPassword(password);
    return { user, newPasswordHash: await hashPassword(password) };
  }
  if (!(await isPassword(password, user.passwordHash))) throw wrongPassword();
  return { user };
}

function requireGoodPassword(password: string): void {
  if ([...password].length >= MIN_PASSWORD_CHARS) return;
  const message = `password must have at least ${MIN_PASSWORD_CHARS} characters.`;
  throw new ApiError('invalid_request', message, { param: 'password' });
}

async function replacePassword(tx: Sql, userId: string, passwordHash: string): Promise<void> {
  await replaceSignIn(tx, userId, { passwordHash, oidc: null });
  await deleteSessionsOfUser(tx, userId, null);
}
