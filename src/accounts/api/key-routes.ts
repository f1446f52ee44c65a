import { recordChange } from '../../audit/record.ts';
import type { Database, Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import { requireScope } from '../../http/authentication.ts';
import { decodeCursor, pageOf, pageQuery } from '../../http/pagination.ts';
import { defineRoute, type IdempotencyHandle, type Route } from '../../http/route.ts';
import { DOCUMENTED, nullable, Type } from '../../http/schema.ts';
import { readTime } from '../../http/time-parameter.ts';
import { makeId } from '../../platform/clock.ts';
import { grantableScopes } from '../../rules/accounts/roles.ts';
import { firstScopeBeyond, SCOPES, type Scope } from '../../rules/accounts/scopes.ts';
import { isId } from '../../rules/ids.ts';
import { shardOf } from '../../rules/shard.ts';
import type { Account, Actor } from '../account.ts';
import type { AccountsRuntime } from '../keys/callers.ts';
import * as store from '../keys/key-store.ts';
import { makeKey } from '../keys/keys.ts';
import { findUser } from '../people/user-store.ts';
import { findAccount, lockAccount } from '../store.ts';
import { keyListSchema, newKeySchema, scopesSchema, showKey } from './view.ts';

const MAX_KEYS_PER_ACCOUNT = 200;
const TAG = 'Keys';
const idParams = Type.Object({ id: Type.String() });
const nameSchema = Type.String({ minLength: 1, maxLength: 200 });
const wishSchema = Type.Object({
  name: Type.Optional(nullable(nameSchema)),
  scopes: Type.Optional(scopesSchema),
  expires_at: Type.Optional(
    nullable(
      Type.String({ maxLength: 40, [DOCUMENTED]: { format: 'date-time' } }),
      'ISO 8601 time from which the key is refused; null: never.',
    ),
  ),
});

type NewKeyBody = { name?: string | null; scopes?: Scope[]; expires_at?: string | null };

/** The routes with which a key manages the keys of its own account. */
export function keyRoutes(runtime: AccountsRuntime): Route[] {
  const { db } = runtime;
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/keys',
      auth: 'key',
      scope: 'keys:write',
      summary: "List the account's keys, newest first",
      tag: TAG,
      schema: { query: pageQuery, answers: { 200: keyListSchema } },
      handle: async ({ account, query }) => await listKeys(db, account.id, query),
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/keys',
      auth: 'key',
      scope: 'keys:write',
      replaysToSameKey: true,
      summary: 'Create a key with at most the scopes of this one; the key is shown only in this answer',
      links: { delete_keys_id: { id: '$response.body#/id' } },
      tag: TAG,
      schema: { body: wishSchema, answers: { 201: newKeySchema } },
      handle: async ({ account, body, actor, idempotency, note }) =>
        await createKey(db, { accountId: account.id, ...readNewKey(body, actor), actor, idempotency, note }),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/v1/keys/:id',
      auth: 'key',
      // A key may always delete itself; another one takes keys:write.
      scope: 'any',
      summary: 'Revoke a key at once: this one, or with the scope keys:write one that has no scope beyond its own',
      errors: ['missing_scope', 'missing_role'],
      tag: TAG,
      schema: { params: idParams, answers: { 204: null } },
      async handle({ account, params, actor }) {
        if (actor.key!.id !== params.id) requireScope(actor.key!, 'keys:write');
        return await revokeKey(runtime, { id: params.id, accountId: account.id, actor });
      },
    }),
  ];
}

/** The keys of all accounts, for the operator. */
export function adminKeyRoutes(runtime: AccountsRuntime): Route[] {
  const { db } = runtime;
  return [
    defineRoute({
      method: 'POST',
      path: '/admin/v1/accounts/:id/keys',
      auth: 'admin',
      summary: 'Create an API key; the key is shown only in this answer',
      links: { delete_admin_keys_id: { id: '$response.body#/id' } },
      tag: TAG,
      schema: { params: idParams, body: wishSchema, answers: { 201: newKeySchema } },
      async handle({ params, body, actor, idempotency, note }) {
        if (!isId('acct', params.id)) throw notFound('account');
        return await createKey(db, { accountId: params.id, ...readNewKey(body, actor), actor, idempotency, note });
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/admin/v1/accounts/:id/keys',
      auth: 'admin',
      summary: 'List the keys of an account, newest first',
      tag: TAG,
      schema: { params: idParams, query: pageQuery, answers: { 200: keyListSchema } },
      async handle({ params, query }) {
        if (!isId('acct', params.id) || !(await findAccount(db, params.id))) throw notFound('account');
        return await listKeys(db, params.id, query);
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/admin/v1/keys/:id',
      auth: 'admin',
      summary: 'Revoke a key, at once on this node and within a second on every other',
      tag: TAG,
      schema: { params: idParams, answers: { 204: null } },
      handle: async ({ params, actor }) => await revokeKey(runtime, { id: params.id, accountId: null, actor }),
    }),
  ];
}

async function listKeys(db: Database, accountId: string, query: { limit: number; cursor?: string }) {
  const rows = await store.listKeys(db, accountId, query.limit + 1, decodeCursor('key', query.cursor));
  return { status: 200, body: pageOf(rows, query.limit, showKey) } as const;
}

type KeyWish = Pick<store.NewKey, 'name' | 'scopes' | 'expiresAt'>;

/**
 * The properties of the new key.
 * @throws ApiError  400, or 403 for a scope that the creating key does not have
 */
function readNewKey({ name, scopes = [], expires_at: expiry }: NewKeyBody, { key: maker, user }: Actor): KeyWish {
  const folded = SCOPES.filter((scope) => scopes.includes(scope));
  const granting = user ? grantableScopes(user.role) : maker?.scopes;
  const missing = granting && firstScopeBeyond(granting, folded);
  if (missing) {
    const message = user
      ? `Your role cannot grant the scope ${missing}; list the scopes that the key shall have, without it.`
      : `A key cannot grant the scope ${missing}, which it does not have itself.`;
    throw new ApiError('missing_scope', message, {
      param: 'scopes',
      extra: { required_scope: missing },
    });
  }
  return { name: name ?? null, scopes: folded, expiresAt: readExpiry(expiry ?? null, maker?.expiresAt ?? null) };
}

/**
 * A key cannot create a key that expires later: otherwise a stolen key could extend its own life.
 * @throws ApiError  400
 */
function readExpiry(given: string | null, makersExpiry: Date | null): Date | null {
  const time = readTime('expires_at', given);
  if (time === null) return makersExpiry;
  if (time.getTime() <= Date.now()) throw wrongExpiry('expires_at must lie in the future.');
  if (makersExpiry && time > makersExpiry) {
    throw wrongExpiry(`expires_at must not be later than ${makersExpiry.toISOString()}, when this key expires itself.`);
  }
  return time;
}

type KeyOrder = KeyWish & {
  accountId: string;
  actor: Actor;
  idempotency: IdempotencyHandle;
  note(fields: { new_key_id: string }): void;
};

async function createKey(db: Database, { accountId, actor, idempotency, note, ...wish }: KeyOrder) {
  const { key, prefix, hash } = makeKey();
  const id = makeId('key');
  return await db.transaction(async (tx) => {
    const plan = await lockAccount(tx, { shard: shardOf(accountId), id: accountId });
    if (plan === null) throw notFound('account');
    if ((await store.countKeys(tx, accountId)) >= MAX_KEYS_PER_ACCOUNT) {
      throw new ApiError('conflict', `An account has at most ${MAX_KEYS_PER_ACCOUNT} keys; delete one first.`);
    }
    const maker = actor.key && (await store.lockKey(tx, accountId, actor.key.id));
    if (actor.key && !maker) throw new ApiError('unauthenticated', 'This API key was revoked; use another one.');
    const createdByKey = maker?.endsWith ?? null;
    const createdBy = actor.user && (await findUser(tx, actor.user.id));
    const row = await store.insertKey(tx, accountId, { id, prefix, hash, createdByKey, createdBy, ...wish });
    const details = { scopes: wish.scopes, expires_at: wish.expiresAt?.toISOString() ?? null };
    await recordChange(tx, actor, { accountId, action: 'key.created', targetId: id, details });
    note({ new_key_id: id });
    return await idempotency.saveAnswer(tx, { status: 201, body: { ...showKey(row!), key } });
  });
}

async function revokeKey(
  { db, callers }: AccountsRuntime,
  { id, accountId, actor }: { id: string; accountId: Account['id'] | null; actor: Actor },
): Promise<{ status: 204 }> {
  if (!isId('key', id)) throw notFound('key');
  await db.transaction(async (tx) => {
    if (actor.key && accountId !== null) await requireRightToEnd(tx, { id, accountId, actor });
    const deleted = await store.deleteKey(tx, id, accountId);
    if (deleted === null) throw notFound('key');
    const ended = await store.deleteKeysMadeBy(tx, deleted.accountId, id);
    for (const { id: targetId, accountId: owner, hash: keyHash } of [deleted, ...ended]) {
      await recordChange(tx, actor, { accountId: owner, action: 'key.deleted', targetId, keyHash });
    }
  });
  callers.forgetAll();
  return { status: 204 };
}

/**
 * A key with few scopes must not lock out one with more, and users who are not owners end their own keys only.
 * @throws ApiError  403
 */
async function requireRightToEnd(
  tx: Sql,
  { id, accountId, actor: { key, user } }: { id: string; accountId: string; actor: Actor },
): Promise<void> {
  const target = id === key!.id ? null : await store.lockKey(tx, accountId, id);
  if (target && user && user.role !== 'owner' && target.createdBy !== user.id) {
    throw new ApiError('missing_role', 'Another made this key: an owner of the account may delete it.');
  }
  const missing = target && !user && firstScopeBeyond(key!.scopes, target.scopes);
  if (!missing) return;
  throw new ApiError('missing_scope', `The key has the scope ${missing}, which this one does not have.`, {
    extra: { required_scope: missing },
  });
}

function wrongExpiry(message: string): ApiError {
  return new ApiError('invalid_request', message, { param: 'expires_at' });
}

function notFound(what: 'account' | 'key'): ApiError {
  return new ApiError('not_found', `There is no such ${what}.`);
}
