import { recordEvent } from '../../audit/events.ts';
import { ApiError } from '../../http/api-error.ts';
import { storedEmails } from '../../rules/accounts/email.ts';
import type { Actor } from '../account.ts';
import type { Membership } from './member-store.ts';
import type { PeopleRuntime } from './people-runtime.ts';
import { firstMembership } from './sign-in.ts';
import { findUserOfEmail } from './user-store.ts';

/** Writes to the logs that a user has signed in. */
export async function recordSignIn(
  runtime: PeopleRuntime,
  actor: Actor,
  { id, accountId, userId, role }: Membership,
): Promise<void> {
  const who = { key: { id, scopes: [], expiresAt: null }, user: { id: userId, role, isOperator: false } };
  await recordEvent(runtime, { ...actor, ...who }, { accountId, action: 'session.created', targetId: userId });
}

/**
 * Does what signs a user in, and writes to the logs where it fails with 401: with the account of the user who has the
 * email. It does not wait for that, so that the answer takes the same time for an unknown email.
 * @param email  null where none was given
 */
export async function recordingFailure<Result>(
  runtime: PeopleRuntime,
  { actor, email }: { actor: Actor; email: string | null },
  signIn: () => Promise<Result>,
): Promise<Result> {
  try {
    return await signIn();
  } catch (error) {
    if (error instanceof ApiError && error.type === 'unauthenticated') void recordFailure(runtime, actor, email);
    throw error;
  }
}

async function recordFailure(runtime: PeopleRuntime, actor: Actor, email: string | null): Promise<void> {
  const { db, log } = runtime;
  try {
    const user = email === null ? null : await findUserOfEmail(db, storedEmails(email));
    const membership = user && (await firstMembership(db, user.id));
    const place = { accountId: membership?.accountId ?? '', targetId: user?.id ?? '' };
    await recordEvent(runtime, actor, { action: 'sign_in.failed', ...place });
  } catch (error) {
    log.warn({ err: error, address: actor.address }, 'a sign-in failed, and its account could not be read');
  }
}
