import type { Sql } from '../../../db/database.ts';
import { ApiError } from '../../../http/api-error.ts';
import { hashKey } from '../../../http/authentication.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { component, nullable, Type, timeSchema } from '../../../http/schema.ts';
import { normalEmail, storedEmails } from '../../../rules/accounts/email.ts';
import { shardOf } from '../../../rules/shard.ts';
import { sessionSchema } from '../../api/session-view.ts';
import { findAccount } from '../../store.ts';
import type { Attempts } from '../credentials/attempts.ts';
import type { GivenPassword } from '../credentials/password.ts';
import { findUserByPassword, hashForUser, requireOneSalt } from '../find-by-password.ts';
import { findInvitation, type InvitationRow } from '../invitation-store.ts';
import { acceptInvitation, type NewPerson, noInvitation } from '../join.ts';
import { findKnownUserId } from '../known-browser.ts';
import { deleteSessionsOfUser } from '../member-store.ts';
import { type PeopleRuntime, requirePasswords } from '../people-runtime.ts';
import { requireOwnPage, wrongPassword } from '../sign-in.ts';
import { recordingFailure } from '../sign-in-events.ts';
import { findUserToRestore, replaceSignIn, type UserRow } from '../user-store.ts';
import { answerWithSession } from './answer-with-session.ts';
import {
  emailSchema,
  MIN_PASSWORD_CHARS,
  nameSchema,
  passwordSchema,
  requireReadableEmail,
  roleSchema,
  tokenSchema,
} from './fields.ts';

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
      const invitation = await attempts.checkToken(actor.address, () => openInvitation(db, body.token));
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
      const { address } = actor;
      const { email } = body;
      const knownUserId = await findKnownUserId(runtime, db, { email, header });
      const guesser = { address, email: normalEmail(email), knownUserId };
      const check = async (onlyUserId: string | null) => {
        const invitation = await openInvitation(db, body.token);
        requireInvited(invitation, email);
        return { invitation, who: await identify(runtime, invitation, { ...body, address, onlyUserId }) };
      };
      const attempt = { actor, email };
      const { invitation, who } = await recordingFailure(runtime, attempt, () => attempts.guess(guesser, check));
      if ('person' in who) attempts.addWrong(guesser);
      return await answerWithSession(runtime, { actor, header, note }, async (tx) => {
        const membership = await acceptInvitation(tx, actor, { invitation, who });
        if ('user' in who && who.newPasswordHash) await replacePassword(tx, who.user, who.newPasswordHash);
        return membership;
      });
    },
  });
}

/** @throws ApiError  400 */
function requireInvited({ email: bound }: InvitationRow, email: string): void {
  if (bound === null || storedEmails(email).includes(bound)) return;
  const message = 'The invitation is for another email; sign up with that one.';
  throw new ApiError('invalid_request', message, { param: 'email' });
}

async function openInvitation(sql: Sql, token: string): Promise<InvitationRow> {
  const invitation = await findInvitation(sql, hashKey(token));
  if (!invitation) throw noInvitation();
  return invitation;
}

/** `newPasswordHash`: takes the place of all by which the user signed in before. */
type Who = { user: UserRow; newPasswordHash?: string } | { person: NewPerson };
type Given = GivenPassword & { email: string; name?: string; onlyUserId: string | null };

/**
 * The user who accepts: by an operator's invitation for this email, by the password, or a new one. Who has no matching
 * password is new, whatever users have the email: so the answer does not tell whether there are any.
 * @throws ApiError  400 or 401
 */
async function identify({ db }: PeopleRuntime, invitation: InvitationRow, given: Given): Promise<Who> {
  const { email, password, name, onlyUserId } = given;
  requireGoodPassword(password);
  const restored = await findRestored(db, invitation, email);
  if (restored) return { user: restored, newPasswordHash: await hashForUser(db, restored, given) };
  const { user, hash } = await findUserByPassword(db, email, given);
  if (user && (onlyUserId ?? user.id) === user.id) return { user };
  if (name === undefined) throw wrongPassword('Somebody new gives a name too.');
  requireReadableEmail(email);
  return { person: { email: normalEmail(email), proof: 'none', name, passwordHash: hash, oidc: null } };
}

/** The user whom an operator lets back in; null where the invitation does not do that. */
async function findRestored(sql: Sql, invitation: InvitationRow, email: string): Promise<UserRow | null> {
  const { accountId, isByOperator, email: bound } = invitation;
  if (!isByOperator || bound === null) return null;
  return await findUserToRestore(sql, { emails: storedEmails(email), shard: shardOf(accountId), accountId });
}

function requireGoodPassword(password: string): void {
  if ([...password].length >= MIN_PASSWORD_CHARS) return;
  const message = `password must have at least ${MIN_PASSWORD_CHARS} characters.`;
  throw new ApiError('invalid_request', message, { param: 'password' });
}

async function replacePassword(tx: Sql, { id, email }: UserRow, passwordHash: string): Promise<void> {
  await requireOneSalt(tx, email, { of: passwordHash, exceptId: id });
  await replaceSignIn(tx, id, { passwordHash, oidc: null });
  await deleteSessionsOfUser(tx, id, null);
}
