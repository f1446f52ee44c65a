import type { Sql } from '../../../db/database.ts';
import { hashKey } from '../../../http/authentication.ts';
import { storedEmails } from '../../../rules/accounts/email.ts';
import type { Actor } from '../../account.ts';
import { findInvitation } from '../invitation-store.ts';
import { acceptInvitation, makeFirstUser, type NewPerson } from '../join.ts';
import { deleteSessionsOfUser, type Membership } from '../member-store.ts';
import { firstMembership } from '../sign-in.ts';
import {
  findUserBySubject,
  findUserOfEmail,
  hasUsers,
  raiseProof,
  replaceSignIn,
  type UserRow,
} from '../user-store.ts';
import type { Identity } from './provider.ts';
import type { SignInState } from './sign-in-state.ts';

/** Why somebody whom the provider knows is not let in. The console has a sentence for each. */
export type Refusal = 'no_user' | 'no_account' | 'no_email' | 'other_email' | 'no_invitation' | 'set_up_already';

/** Lets somebody in by what the provider says: a user who exists, or a new one with an invitation or the setup. */
export async function admitIdentity(
  tx: Sql,
  actor: Actor,
  { identity, token }: { identity: Identity; token: SignInState['token'] },
): Promise<Membership | Refusal> {
  if (token?.kind === 'setup') return await setUp(tx, actor, identity);
  const user = await recognise(tx, identity);
  if (token?.kind === 'invitation') return await accept(tx, actor, { identity, user, token: token.value });
  if (!user) return 'no_user';
  return (await firstMembership(tx, user.id)) ?? 'no_account';
}

/**
 * The user whom the provider means: by the subject, else by an email that the provider has verified and that the user
 * has not only typed. So users who had passwords, or another provider, remain who they are.
 */
async function recognise(tx: Sql, identity: Identity): Promise<UserRow | null> {
  const { issuer, email, isEmailVerified } = identity;
  const known = await findUserBySubject(tx, identity);
  if (email === null || !isEmailVerified) return known;
  if (known) return known.email === email ? await proven(tx, known) : known;
  const user = await findUserOfEmail(tx, storedEmails(email));
  // Another person at the same provider has this email there by now.
  if (!user || user.oidcIssuer === issuer) return null;
  // Nobody has checked that the email belongs to whoever chose the password and is signed in with it.
  await replaceSignIn(tx, user.id, { passwordHash: null, oidc: identity });
  await deleteSessionsOfUser(tx, user.id, null);
  return await proven(tx, { ...user, passwordHash: null });
}

/** The user, whose email the provider has just verified. */
async function proven(tx: Sql, user: UserRow): Promise<UserRow> {
  await raiseProof(tx, user, 'service');
  return { ...user, emailProof: 'service' };
}

async function setUp(tx: Sql, actor: Actor, identity: Identity): Promise<Membership | Refusal> {
  const person = personOf(identity);
  if (!person) return 'no_email';
  if (await hasUsers(tx)) return 'set_up_already';
  return await makeFirstUser(tx, actor, { person, accountName: person.name });
}

async function accept(
  tx: Sql,
  actor: Actor,
  { identity, user, token }: { identity: Identity; user: UserRow | null; token: string },
): Promise<Membership | Refusal> {
  const invitation = await findInvitation(tx, hashKey(token));
  if (!invitation) return 'no_invitation';
  const own = [user?.emailProof === 'service' ? user.email : null, identity.isEmailVerified ? identity.email : null];
  if (invitation.email !== null && !own.includes(invitation.email)) return 'other_email';
  const person = personOf(identity);
  if (!user && !person) return 'no_email';
  return await acceptInvitation(tx, actor, { invitation, who: user ? { user } : { person: person! } });
}

function personOf({ email, isEmailVerified, name, issuer, subject }: Identity): NewPerson | null {
  if (email === null) return null;
  const proof = isEmailVerified ? 'service' : 'none';
  return { email, proof, name: name ?? email, passwordHash: null, oidc: { issuer, subject } };
}
