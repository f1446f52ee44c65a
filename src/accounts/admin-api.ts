import type { Database, Sql } from '../db/sql.ts';
import { ApiError } from '../errors.ts';
import { decodeCursor, pageOf, pageQuery } from '../http/page.ts';
import type { Route } from '../http/route.ts';
import { defineRoute } from '../http/route.ts';
import { component, idSchema, nullable, Type, timeSchema } from '../http/schema.ts';
import type { IdPrefix } from '../rules/ids.ts';
import { isId } from '../rules/ids.ts';
import { creditsFromUnits, unitsFromCredits } from '../rules/price.ts';
import { makeId } from '../runtime/clock.ts';
import { makeKey } from './keys.ts';
import type { AccountRow } from './store.ts';
import * as store from './store.ts';
import type { Rates } from './view.ts';
import {
  accountListSchema,
  accountSchema,
  keyListSchema,
  newKeySchema,
  planSchema,
  showAccount,
  showKey,
} from './view.ts';

export type AdminDeps = { db: Database; rates: Rates };

// Far under 2^53 units, so that sums of balances stay exact.
const MAX_CREDITS = 100_000_000;

const nameSchema = Type.String({ minLength: 1, maxLength: 200 });
const idParams = Type.Object({ id: Type.String() });

const ownAccount = { id: '$response.body#/id' };
const ACCOUNT_LINKS = {
  get_admin_accounts_id: ownAccount,
  patch_admin_accounts_id: ownAccount,
  post_admin_accounts_id_credits: ownAccount,
  post_admin_accounts_id_keys: ownAccount,
  get_admin_accounts_id_keys: ownAccount,
};

const entrySchema = Type.Object(
  {
    id: idSchema('led', 'led_01kamz2f3q8r5t7v9wxyzabcde'),
    account_id: idSchema('acct', 'acct_01kamz2f3q8r5t7v9wxyzabcde'),
    kind: Type.Literal('credit'),
    amount: Type.Number(),
    note: nullable(Type.String()),
    created_at: timeSchema,
  },
  component('LedgerEntry'),
);

/** The operator's surface: accounts, their credit, their keys. */
export function adminRoutes(deps: AdminDeps): Route[] {
  return [
    createAccount(deps),
    listAccounts(deps),
    getAccount(deps),
    changeAccount(deps),
    addCredits(deps),
    createKey(deps),
    listKeys(deps),
    revokeKey(deps),
  ];
}

function createAccount({ db, rates }: AdminDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/admin/v1/accounts',
    auth: 'admin',
    summary: 'Create an account',
    links: ACCOUNT_LINKS,
    tag: 'Accounts',
    schema: {
      body: Type.Object({
        name: nameSchema,
        plan: planSchema,
        credits: Type.Optional(
          nullable(
            Type.Number({ minimum: 0, maximum: MAX_CREDITS }),
            'What it can spend at first; null or absent: unlimited.',
          ),
        ),
      }),
      answers: { 201: accountSchema },
    },
    async handle({ body: { name, plan, credits }, once }) {
      const units = credits === undefined || credits === null ? null : unitsFromCredits(credits);
      const account = { id: makeId('acct'), name, plan, units, ledgerId: makeId('led') };
      return await db.transaction(async (tx) => {
        const row = await store.insertAccount(tx, account);
        return await once.keep(tx, { status: 201, body: showAccount(row, rates) });
      });
    },
  });
}

function listAccounts({ db, rates }: AdminDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/admin/v1/accounts',
    auth: 'admin',
    summary: 'List accounts, newest first',
    tag: 'Accounts',
    schema: { query: pageQuery, answers: { 200: accountListSchema } },
    async handle({ query: { limit, cursor } }) {
      const rows = await store.listAccounts(db, limit + 1, decodeCursor('acct', cursor));
      return { status: 200, body: pageOf(rows, limit, (row) => showAccount(row, rates)) };
    },
  });
}

function getAccount({ db, rates }: AdminDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/admin/v1/accounts/:id',
    auth: 'admin',
    summary: 'Get an account',
    tag: 'Accounts',
    schema: { params: idParams, answers: { 200: accountSchema } },
    async handle({ params }) {
      return { status: 200, body: showAccount(await accountOr404(db, params.id), rates) };
    },
  });
}

function changeAccount({ db, rates }: AdminDeps): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/admin/v1/accounts/:id',
    auth: 'admin',
    summary: 'Change the name or the plan of an account',
    tag: 'Accounts',
    schema: {
      params: idParams,
      body: Type.Object({ name: Type.Optional(nameSchema), plan: Type.Optional(planSchema) }, { minProperties: 1 }),
      answers: { 200: accountSchema },
    },
    async handle({ params, body }) {
      const change = { name: body.name ?? null, plan: body.plan ?? null };
      const account = isId('acct', params.id) ? await store.updateAccount(db, params.id, change) : null;
      if (!account) throw notFound('account');
      return { status: 200, body: showAccount(account, rates) };
    },
  });
}

function addCredits({ db }: AdminDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/admin/v1/accounts/:id/credits',
    auth: 'admin',
    summary: 'Add credits to an account, or take some away',
    tag: 'Accounts',
    schema: {
      params: idParams,
      body: Type.Object({
        amount: Type.Number({
          minimum: -MAX_CREDITS,
          maximum: MAX_CREDITS,
          description: 'Credits; below zero to take away, even below what is there.',
        }),
        note: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
      }),
      answers: { 201: entrySchema },
    },
    async handle({ params, body: { amount, note }, once }) {
      const account = await accountOr404(db, params.id);
      const units = unitsFromCredits(amount);
      refuseCredit(account, units);
      return await db.transaction(async (tx) => {
        const entry = await store.addCredit(tx, { account, units, note: note ?? null });
        if (!entry) throw notFound('account');
        const body = {
          id: entry.id,
          account_id: account.id,
          kind: 'credit' as const,
          amount: creditsFromUnits(entry.amountChange),
          note: entry.note,
          created_at: entry.createdAt.toISOString(),
        };
        return await once.keep(tx, { status: 201, body });
      });
    },
  });
}

function refuseCredit(account: AccountRow, units: number): void {
  if (account.unlimited) {
    throw new ApiError(
      'conflict',
      'This account is unlimited and has no balance; create another account with credits to count what it spends.',
    );
  }
  if (units === 0) {
    throw new ApiError('invalid_request', 'amount must be above or below zero.', { param: 'amount' });
  }
  if (Math.abs(account.amount + units) > unitsFromCredits(MAX_CREDITS)) {
    throw new ApiError('conflict', `A balance holds at most ${MAX_CREDITS} credits either way; add less.`, {
      param: 'amount',
    });
  }
}

function createKey({ db }: AdminDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/admin/v1/accounts/:id/keys',
    auth: 'admin',
    summary: 'Create an API key; the key is shown only in this answer',
    links: { delete_admin_keys_id: { id: '$response.body#/id' } },
    tag: 'Keys',
    schema: {
      params: idParams,
      body: Type.Object({ name: Type.Optional(nullable(nameSchema)) }),
      answers: { 201: newKeySchema },
    },
    async handle({ params, body: { name }, once }) {
      const { id: accountId } = await accountOr404(db, params.id);
      const { key, prefix, hash } = makeKey();
      return await db.transaction(async (tx) => {
        const row = await store.insertKey(tx, accountId, { id: makeId('key'), name: name ?? null, prefix, hash });
        if (!row) throw notFound('account');
        return await once.keep(tx, { status: 201, body: { ...showKey(row), key } });
      });
    },
  });
}

function listKeys({ db }: AdminDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/admin/v1/accounts/:id/keys',
    auth: 'admin',
    summary: 'List the keys of an account, newest first',
    tag: 'Keys',
    schema: { params: idParams, query: pageQuery, answers: { 200: keyListSchema } },
    async handle({ params, query: { limit, cursor } }) {
      const { id } = await accountOr404(db, params.id);
      const rows = await store.listKeys(db, id, limit + 1, decodeCursor('key', cursor));
      return { status: 200, body: pageOf(rows, limit, showKey) };
    },
  });
}

function revokeKey({ db }: AdminDeps): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/admin/v1/keys/:id',
    auth: 'admin',
    summary: 'Revoke a key, at once and on every node',
    tag: 'Keys',
    schema: { params: idParams, answers: { 204: null } },
    async handle({ params }) {
      if (!isId('key', params.id) || !(await store.deleteKey(db, params.id))) throw notFound('key');
      return { status: 204 };
    },
  });
}

async function accountOr404(db: Sql, id: string): Promise<AccountRow> {
  const account = isId('acct' satisfies IdPrefix, id) ? await store.findAccount(db, id) : null;
  if (!account) throw notFound('account');
  return account;
}

function notFound(what: 'account' | 'key'): ApiError {
  return new ApiError('not_found', `There is no such ${what}.`);
}
