import type { Sql } from '../../../db/database.ts';
import type { Call } from '../../../http/route.ts';
import { showSession } from '../../api/session-view.ts';
import { knownBrowserCookie } from '../known-browser.ts';
import type { Membership } from '../member-store.ts';
import type { PeopleRuntime } from '../people-runtime.ts';
import { startUserSession } from '../sign-in.ts';
import { recordSignIn } from '../sign-in-events.ts';

/**
 * Begins the session of a user, and returns the answer with its cookie, and the one of a known browser.
 * @param find  finds or makes the membership in the transaction of the session. `expiresAt`: as in `startUserSession`
 */
export async function answerWithSession(
  runtime: PeopleRuntime,
  { actor, header, note }: Pick<Call<unknown, unknown, unknown>, 'actor' | 'header' | 'note'>,
  find: (tx: Sql) => Promise<Membership & { expiresAt?: Date }>,
) {
  const { db, callers } = runtime;
  const { membership, session, cookie } = await db.transaction(async (tx) => {
    const membership = await find(tx);
    return { membership, ...(await startUserSession(tx, membership, header, membership.expiresAt)) };
  });
  callers.forgetAll();
  await recordSignIn(runtime, actor, membership);
  const known = knownBrowserCookie(runtime, membership.userId, header);
  note({ user: membership.userId });
  return { status: 201 as const, body: showSession(session, membership), cookies: [cookie, known] };
}
