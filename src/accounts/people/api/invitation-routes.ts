import { randomBytes } from 'node:crypto';
import { recordChange } from '../../../audit/record.ts';
import { ApiError } from '../../../http/api-error.ts';
import { hashKey } from '../../../http/authentication.ts';
import { decodeCursor, pageOf, pageQuery } from '../../../http/pagination.ts';
import { defineRoute, type IdempotencyHandle, type Route } from '../../../http/route.ts';
import { component, idSchema, nullable, pageSchema, type Static, Type, timeSchema } from '../../../http/schema.ts';
import { makeId } from '../../../platform/clock.ts';
import { normalEmail } from '../../../rules/accounts/email.ts';
import type { Role } from '../../../rules/accounts/roles.ts';
import { isId } from '../../../rules/ids.ts';
import { shardOf } from '../../../rules/shard.ts';
import type { Actor } from '../../account.ts';
import { publicPage } from '../../public-page.ts';
import { lockAccount } from '../../store.ts';
import * as store from '../invitation-store.ts';
import { lockAsOwner, requireOperatorStill } from '../owners.ts';
import { type PeopleRuntime, requireOwner } from '../people-runtime.ts';
import { emailSchema, idParams, requireReadableEmail, roleSchema, userIdSchema } from './fields.ts';

const TAG = 'Users';
const KEEP_MS = 7 * 24 * 3_600_000;
const MAX_PER_ACCOUNT = 100;
const TOKEN_BYTES = 32;

const invitationFields = {
  id: idSchema('inv', 'inv_01kamz2f3q8r5t7v9wxyzabcde'),
  role: roleSchema,
  email: nullable(Type.String(), 'The only address that may accept it; null: whoever has the link.'),
  created_by: nullable(userIdSchema, 'The user who invites; null: the operator, or a user who is gone.'),
  created_at: timeSchema,
  expires_at: timeSchema,
};
const invitationSchema = Type.Object(invitationFields, component('Invitation'));
const newInvitationSchema = Type.Object(
  {
    ...invitationFields,
    url: Type.String({
      description: 'The link to give to the person; relative to the address of the service. Shown only here.',
    }),
  },
  component('NewInvitation'),
);
const bodyFields = { role: roleSchema, email: Type.Optional(nullable(emailSchema)) };

/** The links by which people join an account. */
export function invitationRoutes(runtime: PeopleRuntime): Route[] {
  const { db } = runtime;
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/invitations',
      auth: 'session',
      summary: 'List the invitations that can still be accepted, newest first; for owners',
      errors: ['missing_role'],
      tag: TAG,
      schema: { query: pageQuery, answers: { 200: pageSchema('InvitationList', invitationSchema) } },
      async handle({ account, actor, query: { limit, cursor } }) {
        requireOwner(actor);
        const page = { limit: limit + 1, beforeId: decodeCursor('inv', cursor) };
        return { status: 200, body: pageOf(await store.listInvitations(db, account.id, page), limit, showInvitation) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/invitations',
      auth: 'session',
      replaysToSameKey: true,
      summary: 'Invite somebody: make a link that works once, within 7 days; for owners',
      errors: ['missing_role'],
      tag: TAG,
      schema: { body: Type.Object(bodyFields), answers: { 201: newInvitationSchema } },
      async handle({ account, actor, body: { role, email = null }, idempotency }) {
        requireOwner(actor);
        return await invite(runtime, { accountId: account.id, role, email, actor, idempotency });
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/v1/invitations/:id',
      auth: 'session',
      summary: 'Delete an invitation: its link is good for nothing from now on; for owners',
      errors: ['missing_role'],
      tag: TAG,
      schema: { params: idParams, answers: { 204: null } },
      async handle({ account, actor, params: { id } }) {
        requireOwner(actor);
        const accountId = account.id;
        await db.transaction(async (tx) => {
          await lockAsOwner(tx, account, actor);
          if (!isId('inv', id) || !(await store.deleteInvitation(tx, { id, accountId }))) throw notFound('invitation');
          await recordChange(tx, actor, { accountId, action: 'invitation.deleted', targetId: id });
        });
        return { status: 204 };
      },
    }),
  ];
}

/** How an operator brings somebody into an account. */
export function adminInvitationRoute(runtime: PeopleRuntime): Route {
  return defineRoute({
    method: 'POST',
    path: '/admin/v1/accounts/:id/invitations',
    auth: 'admin',
    summary: 'Invite somebody to an account',
    description:
      'Whoever accepts an invitation with the email of a user who exists sets a new password: so a user who has forgotten it comes back.',
    tag: TAG,
    schema: {
      params: idParams,
      body: Type.Object({
        ...bodyFields,
        operator: Type.Optional(
          Type.Boolean({ description: 'Whether whoever accepts it becomes an operator of the service too.' }),
        ),
      }),
      answers: { 201: newInvitationSchema },
    },
    async handle({ actor, params, body: { role, email = null, operator = false }, idempotency }) {
      if (!isId('acct', params.id)) throw notFound('account');
      const makesOperator = operator;
      return await invite(runtime, { accountId: params.id, role, email, makesOperator, actor, idempotency });
    },
  });
}

type Wish = {
  accountId: string;
  role: Role;
  email: string | null;
  /** Absent: an owner of the account invites. */
  makesOperator?: boolean;
  actor: Actor;
  idempotency: IdempotencyHandle;
};

async function invite({ db, config }: PeopleRuntime, wish: Wish) {
  const { accountId, role, email, makesOperator, actor, idempotency } = wish;
  if (email !== null) requireReadableEmail(email);
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return await db.transaction(async (tx) => {
    const account = { shard: shardOf(accountId), id: accountId };
    if (makesOperator === undefined) await lockAsOwner(tx, account, actor);
    else {
      if ((await lockAccount(tx, account)) === null) throw notFound('account');
      await requireOperatorStill(tx, actor);
    }
    await store.deleteExpiredInvitations(tx, accountId);
    if ((await store.countInvitations(tx, accountId)) >= MAX_PER_ACCOUNT) {
      throw new ApiError('conflict', `An account has at most ${MAX_PER_ACCOUNT} open invitations; delete one first.`);
    }
    const row = await store.insertInvitation(tx, {
      id: makeId('inv'),
      accountId,
      role,
      email: email === null ? null : normalEmail(email),
      hash: hashKey(token),
      isByOperator: makesOperator !== undefined,
      makesOperator: makesOperator ?? false,
      createdBy: actor.user?.id ?? null,
      keepMs: KEEP_MS,
    });
    const details = { role, ...(makesOperator && { operator: true }) };
    await recordChange(tx, actor, { accountId, action: 'invitation.created', targetId: row.id, details });
    const body = { ...showInvitation(row), url: publicPage(config, `#invitation=${token}`) };
    return await idempotency.saveAnswer(tx, { status: 201, body });
  });
}

function showInvitation(row: store.InvitationRow): Static<typeof invitationSchema> {
  return {
    id: row.id,
    role: row.role,
    email: row.email,
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  };
}

function notFound(what: 'account' | 'invitation'): ApiError {
  return new ApiError('not_found', `There is no such ${what}.`);
}
