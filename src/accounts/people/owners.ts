import { recordChange } from '../../audit/record.ts';
import type { Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Actor } from '../account.ts';
import type { AccountName } from '../keys/key-store.ts';
import { lockAccount } from '../store.ts';
import { deleteInvitationsBy } from './invitation-store.ts';
import { countMembers, findMember, type Membership } from './member-store.ts';
import { requireOwner, requireUser } from './people-runtime.ts';
import { findUser, holdUsers } from './user-store.ts';

/**
 * Locks the account, and looks whether the user who acts is an owner still: what a request is admitted by is up to a
 * second old, and an owner who was removed must not come back in it.
 * @throws ApiError  403
 */
export async function lockAsOwner(tx: Sql, account: AccountName, actor: Actor): Promise<void> {
  const user = requireUser(actor);
  await lockAccount(tx, account);
  const member = await findMember(tx, account.id, user.id);
  requireOwner({ ...actor, user: { ...user, role: member?.role ?? 'viewer' } });
}

/** The same of a user who acts as an operator, and remains one until the transaction ends. @throws ApiError  401 */
export async function requireOperatorStill(tx: Sql, { user }: Actor): Promise<void> {
  if (user === null) return;
  await holdUsers(tx, [user.id]);
  if ((await findUser(tx, user.id))?.isOperator) return;
  throw new ApiError('unauthenticated', 'You are no operator any more.');
}

/**
 * To be called before a user becomes less than an owner, or leaves: ends the invitations that the user made.
 * @param tx  has locked the account
 * @throws ApiError  409 when this is the last owner
 */
export async function endOwnership(
  tx: Sql,
  actor: Actor,
  { accountId, shard, userId, role }: Membership,
): Promise<void> {
  if (role !== 'owner') return;
  if ((await countMembers(tx, { shard, id: accountId })).owners < 2) {
    throw new ApiError('conflict', 'This is the last owner of the account; make another user an owner first.');
  }
  for (const targetId of await deleteInvitationsBy(tx, { accountId, userId })) {
    await recordChange(tx, actor, { accountId, action: 'invitation.deleted', targetId });
  }
}
