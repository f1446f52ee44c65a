import { ApiError } from '../../../http/api-error.ts';
import { hashKey } from '../../../http/authentication.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { Type } from '../../../http/schema.ts';
import { storedEmails } from '../../../rules/accounts/email.ts';
import { sessionSchema } from '../../api/session-view.ts';
import { findSession } from '../../keys/session-store.ts';
import type { Attempts } from '../credentials/attempts.ts';
import { findInvitation, type InvitationRow } from '../invitation-store.ts';
import { acceptInvitation, noInvitation } from '../join.ts';
import { hasPasswords, type PeopleRuntime, requireUser } from '../people-runtime.ts';
import { findUser, type UserRow } from '../user-store.ts';
import { answerWithSession } from './answer-with-session.ts';
import { tokenSchema } from './fields.ts';

/** Accepting an invitation without another sign-in. */
export function joinRoute(runtime: PeopleRuntime, attempts: Attempts): Route {
  const { db, config } = runtime;
  return defineRoute({
    method: 'POST',
    path: '/v1/me/invitations',
    auth: 'session',
    isForSuspended: true,
    summary: 'Accept an invitation as the user who is signed in, and go to its account',
    description: `A new session takes the place of this one, and ends when this one would have ended. A repeated answer
(\`Idempotency-Key\`) comes without the cookie.`,
    errors: ['missing_role', 'not_found', 'conflict', 'rate_limited'],
    tag: 'Users',
    schema: { body: Type.Object({ token: tokenSchema }), answers: { 201: sessionSchema } },
    async handle({ account, actor, body: { token }, header, note }) {
      const { id } = requireUser(actor);
      const sessionId = actor.sessionId!;
      const invitation = await attempts.guessInSession(sessionId, async () => {
        const found = await findInvitation(db, hashKey(token));
        if (!found) throw noInvitation();
        return found;
      });
      const user = await findUser(db, id);
      if (!user) throw sessionEnded();
      requireInvited(invitation, user, { isTypedEmailTaken: hasPasswords(config) });
      return await answerWithSession(runtime, { actor, header, note }, async (tx) => {
        const membership = await acceptInvitation(tx, actor, { invitation, who: { user } });
        // The user is held: whatever ends the session has ended it by now, or waits.
        const session = await findSession(tx, { shard: account.shard, id: sessionId });
        if (!session) throw sessionEnded();
        return { ...membership, expiresAt: session.expiresAt };
      });
    },
  });
}

/**
 * @param isTypedEmailTaken  whether the link counts as a proof of an email that the user has only typed, as at the
 *   sign-in with a password
 * @throws ApiError  400
 */
function requireInvited(
  { email: bound }: InvitationRow,
  { email, emailProof }: UserRow,
  { isTypedEmailTaken }: { isTypedEmailTaken: boolean },
): void {
  const isOwn = isTypedEmailTaken || emailProof === 'service';
  if (bound === null || (isOwn && storedEmails(bound).includes(email))) return;
  const message = 'The invitation is for another email than yours; sign out, and open it again.';
  throw new ApiError('invalid_request', message, { param: 'token' });
}

function sessionEnded(): ApiError {
  return new ApiError('unauthenticated', 'The session has ended; sign in again.');
}
