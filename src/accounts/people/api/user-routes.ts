import { recordChange } from '../../../audit/record.ts';
import type { Sql } from '../../../db/database.ts';
import { ApiError } from '../../../http/api-error.ts';
import { decodeCursor, pageOf, pageQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { component, nullable, pageSchema, type Static, Type, timeSchema } from '../../../http/schema.ts';
import { isId } from '../../../rules/ids.ts';
import type { Account } from '../../account.ts';
import { lockAccount } from '../../store.ts';
import { deleteMember, findMember, listMembers, type MemberRow, setRole } from '../member-store.ts';
import { endOwnership, lockAsOwner } from '../owners.ts';
import { type PeopleRuntime, requireOwner, requireUser } from '../people-runtime.ts';
import { deleteUsersWithoutAccount, holdUsers } from '../user-store.ts';
import { idParams, roleSchema, userIdSchema } from './fields.ts';

const TAG = 'Users';

const userSchema = Type.Object(
  {
    id: userIdSchema,
    name: Type.String(),
    email: Type.String(),
    role: roleSchema,
    joined_at: timeSchema,
    last_used_at: nullable(timeSchema, 'At most a minute old; null: no request yet.'),
  },
  component('User', {
    id: 'usr_01kamz2f3q8r5t7v9wxyzabcde',
    name: 'Anna',
    email: 'anna@example.com',
    role: 'member',
    joined_at: '2026-11-21T09:30:00.000Z',
    last_used_at: null,
  }),
);

/** The users of the account of a session. */
export function userRoutes(runtime: PeopleRuntime): Route[] {
  const { db } = runtime;
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/users',
      auth: 'session',
      summary: 'List the users of the account, newest first',
      errors: ['missing_role'],
      tag: TAG,
      schema: { query: pageQuery, answers: { 200: pageSchema('UserList', userSchema) } },
      async handle({ account, actor, query: { limit, cursor } }) {
        requireUser(actor);
        const page = { limit: limit + 1, beforeId: decodeCursor('mem', cursor) };
        return { status: 200, body: pageOf(await listMembers(db, account.id, page), limit, showMember) };
      },
    }),
    changeRoute(runtime),
    removalRoute(runtime),
  ];
}

function changeRoute({ db, callers }: PeopleRuntime): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/v1/users/:id',
    auth: 'session',
    summary: 'Change the role of a user, at once; for owners',
    description: 'The invitations that an owner made end when the owner becomes less.',
    errors: ['missing_role', 'conflict'],
    tag: TAG,
    schema: { params: idParams, body: Type.Object({ role: roleSchema }), answers: { 200: userSchema } },
    async handle({ account, actor, params: { id }, body: { role } }) {
      requireOwner(actor);
      const member = await db.transaction(async (tx) => {
        await lockAsOwner(tx, account, actor);
        const found = await findUserHere(tx, account, id);
        if (role !== 'owner') await endOwnership(tx, actor, found);
        await setRole(tx, found, role);
        const change = { accountId: account.id, targetId: id, details: { role } };
        await recordChange(tx, actor, { action: 'user.changed', isDefence: true, ...change });
        return { ...found, role };
      });
      callers.forgetAll();
      return { status: 200, body: showMember(member) };
    },
  });
}

function removalRoute({ db, callers }: PeopleRuntime): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/users/:id',
    auth: 'session',
    summary: 'Remove a user from the account, and end their sessions in it; for owners, and for oneself',
    description:
      'Keys that the user made remain, invitations end. A user who is in no other account and no operator is deleted.',
    errors: ['missing_role', 'conflict'],
    tag: TAG,
    schema: { params: idParams, answers: { 204: null } },
    async handle({ account, actor, params: { id } }) {
      const isOwn = requireUser(actor).id === id;
      if (!isOwn) requireOwner(actor);
      await db.transaction(async (tx) => {
        if (isOwn) await lockAccount(tx, account);
        else await lockAsOwner(tx, account, actor);
        const member = await findUserHere(tx, account, id);
        await endOwnership(tx, actor, member);
        await holdUsers(tx, [id]);
        await deleteMember(tx, member);
        await deleteUsersWithoutAccount(tx, [id]);
        await recordChange(tx, actor, { accountId: account.id, action: 'user.deleted', targetId: id });
      });
      callers.forgetAll();
      return { status: 204 };
    },
  });
}

async function findUserHere(tx: Sql, account: Account, userId: string): Promise<MemberRow> {
  const member = isId('usr', userId) ? await findMember(tx, account.id, userId) : null;
  if (!member) throw new ApiError('not_found', 'There is no such user in this account.');
  return member;
}

function showMember(member: MemberRow): Static<typeof userSchema> {
  return {
    id: member.userId,
    name: member.name,
    email: member.email,
    role: member.role,
    joined_at: member.createdAt.toISOString(),
    last_used_at: member.lastUsedAt?.toISOString() ?? null,
  };
}
