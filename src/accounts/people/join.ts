import { recordChange } from '../../audit/record.ts';
import type { Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import { makeId } from '../../platform/clock.ts';
import { type EmailProof, storedEmails } from '../../rules/accounts/email.ts';
import { higherRole, type Role } from '../../rules/accounts/roles.ts';
import { shardOf } from '../../rules/shard.ts';
import type { Actor } from '../account.ts';
import { insertAccount, lockAccount } from '../store.ts';
import { requireOneSalt } from './find-by-password.ts';
import { deleteInvitation, type InvitationRow } from './invitation-store.ts';
import { countMembers, findMember, insertMember, type Membership, setRole } from './member-store.ts';
import { holdChecked } from './sign-in.ts';
import { hasUsers, insertUser, lockUsers, raiseProof, type Subject, type UserRow, updateUser } from './user-store.ts';

const MAX_MEMBERS_PER_ACCOUNT = 1_000;

/** A user to be made. `email` is in its normal form. */
export type NewPerson = {
  email: string;
  proof: EmailProof;
  name: string;
  passwordHash: string | null;
  oidc: Subject | null;
};

/**
 * Makes the first user: the owner of a new account, and an operator.
 * @throws ApiError  409 when there is a user already
 */
export async function makeFirstUser(
  tx: Sql,
  actor: Actor,
  { person, accountName }: { person: NewPerson; accountName: string },
): Promise<Membership> {
  await lockUsers(tx);
  if (await hasUsers(tx)) throw new ApiError('conflict', 'The service is set up already; sign in.');
  const accountId = makeId('acct');
  const account = { id: accountId, name: accountName, plan: 'pro', units: null, ledgerId: makeId('led') } as const;
  await insertAccount(tx, account);
  const user = await insertPerson(tx, person, true);
  const membership = {
    id: makeId('mem'),
    shard: shardOf(accountId),
    accountId,
    userId: user.id,
    role: 'owner' as const,
  };
  await insertMember(tx, membership);
  const owner = actorOf(actor, membership, true);
  const details = { plan: account.plan, credits: null };
  await recordChange(tx, owner, { accountId, action: 'account.created', targetId: accountId, details });
  await recordChange(tx, owner, { accountId, action: 'user.joined', targetId: user.id, details: { role: 'owner' } });
  return membership;
}

/**
 * Uses up an invitation: the user is in its account afterwards, with its role or a higher one that the user had.
 * @param who  a user who exists, or one to be made
 * @throws ApiError  401 when the password of the user was replaced meanwhile, 404 when the invitation was used or its
 *   account is gone, 409 when the account is full, or another password for the email was set meanwhile
 */
export async function acceptInvitation(
  tx: Sql,
  actor: Actor,
  { invitation, who }: { invitation: InvitationRow; who: { user: UserRow } | { person: NewPerson } },
): Promise<Membership> {
  const { accountId, role, makesOperator } = invitation;
  const account = { shard: shardOf(accountId), id: accountId };
  if ((await lockAccount(tx, account)) === null || !(await deleteInvitation(tx, invitation))) throw noInvitation();
  const user = 'user' in who ? await holdChecked(tx, who.user) : await insertPerson(tx, who.person, false);
  if (invitation.email !== null && storedEmails(invitation.email).includes(user.email)) {
    await raiseProof(tx, user, invitation.isByOperator ? 'service' : 'account');
  }
  if (makesOperator) await updateUser(tx, user.id, { makesOperator });
  const membership = await addMember(tx, { account, userId: user.id, role });
  await recordChange(tx, actorOf(actor, membership, user.isOperator || makesOperator), {
    accountId,
    action: 'user.joined',
    targetId: user.id,
    details: { role: membership.role, invitation_id: invitation.id },
    // The invitation counted already.
    isDefence: true,
  });
  return membership;
}

async function insertPerson(tx: Sql, person: NewPerson, isOperator: boolean): Promise<UserRow> {
  const { email, proof, passwordHash } = person;
  if (passwordHash !== null) await requireOneSalt(tx, email, { of: passwordHash, exceptId: null });
  const user = await insertUser(tx, { id: makeId('usr'), ...person, isOperator });
  if (!user) throw new ApiError('conflict', 'You have joined at the same time in another window; sign in.');
  await raiseProof(tx, user, proof);
  return user;
}

async function addMember(
  tx: Sql,
  { account, userId, role }: { account: { shard: number; id: string }; userId: string; role: Role },
): Promise<Membership> {
  const known = await findMember(tx, account.id, userId);
  if (known) {
    const highest = higherRole(known.role, role);
    if (highest !== known.role) await setRole(tx, known, highest);
    return { ...known, role: highest };
  }
  if ((await countMembers(tx, account)).all >= MAX_MEMBERS_PER_ACCOUNT) {
    throw new ApiError('conflict', `An account has at most ${MAX_MEMBERS_PER_ACCOUNT} users.`);
  }
  const membership = { id: makeId('mem'), shard: account.shard, accountId: account.id, userId, role };
  await insertMember(tx, membership);
  return membership;
}

/** The user of a membership as the one who acts. */
function actorOf(actor: Actor, { id, userId, role }: Membership, isOperator: boolean): Actor {
  return { ...actor, key: { id, scopes: [], expiresAt: null }, user: { id: userId, role, isOperator } };
}

export function noInvitation(): ApiError {
  return new ApiError('not_found', 'There is no such invitation: it was used, deleted, or is older than 7 days.');
}
