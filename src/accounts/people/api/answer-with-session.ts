import type { Sql } from '../../../db/database.ts';
import type { Call } from '../../../http/route.ts';
import { showSession } from '../../api/session-view.ts';
import type { Membership } from '../member-store.ts';
import type { PeopleRuntime } from '../people-runtime.ts';
import { startUserSession } from '../sign-in.ts';

/**
 * Begins the session of a user, and returns the answer with its cookie.
 * @param find  finds or makes the membership in the transaction of the session. `expiresAt`: as in `startUserSession`
 */
export async function answerWithSession(
  { db, callers }: PeopleRuntime,
  { header, note }: Pick<Call<unknown, unknown, unknown>, 'header' | 'note'>,
  find: (tx: Sql) => Promise<Membership & { expiresAt?: Date }>,
) {
  const { membership, session, cookie } = await db.transaction(async (tx) => {
    const membership = await find(tx);
    return { membership, ...(await startUserSession(tx, membership, header, membership.expiresAt)) };
  });
  callers.forgetAll();
  note({ user: membership.userId });
  return { status: 201, body: showSession(session, membership), headers: { 'set-cookie': cookie } } as const;
}
