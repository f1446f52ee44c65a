import { recordChange } from '../../audit/record.ts';
import type { Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import { decodeCursor, pageFields, pageOf } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { DOCUMENTED, nullable, Type } from '../../http/schema.ts';
import { makeId } from '../../platform/clock.ts';
import { type IdPrefix, isId } from '../../rules/ids.ts';
import { LEAST_CREDITS, unitsFromCredits } from '../../rules/jobs/price.ts';
import type { AccountsRuntime } from '../keys/callers.ts';
import { addCredit } from '../ledger/ledger-store.ts';
import type { AccountRow } from '../store.ts';
import * as store from '../store.ts';
import { adminKeyRoutes } from './key-routes.ts';
import { adminLedgerRoute, entrySchema, showEntry } from './ledger-routes.ts';
import { accountListSchema, accountSchema, planSchema, showAccount } from './view.ts';

// Far under 2^53 units, so that sums of balances stay exact.
const MAX_CREDITS = 100_000_000;
// What `readUnits` refuses.
const SHOWN_CREDITS = {
  [DOCUMENTED]: {
    not: {
      anyOf: [
        { exclusiveMinimum: -LEAST_CREDITS, exclusiveMaximum: 0 },
        { exclusiveMinimum: 0, exclusiveMaximum: LEAST_CREDITS },
      ],
    },
  },
};

const nameSchema = Type.String({ minLength: 1, maxLength: 200 });
const idParams = Type.Object({ id: Type.String() });

const ownAccount = { id: '$response.body#/id' };
const ACCOUNT_LINKS = {
  get_admin_accounts_id: ownAccount,
  patch_admin_accounts_id: ownAccount,
  post_admin_accounts_id_credits: ownAccount,
  post_admin_accounts_id_keys: ownAccount,
  get_admin_accounts_id_keys: ownAccount,
  get_admin_accounts_id_ledger: ownAccount,
};

/** The operator's surface: accounts, their credit, their keys. */
export function adminRoutes(runtime: AccountsRuntime): Route[] {
  return [
    createAccount(runtime),
    listAccounts(runtime),
    getAccount(runtime),
    changeAccount(runtime),
    addCredits(runtime),
    adminLedgerRoute(runtime),
    ...adminKeyRoutes(runtime),
  ];
}

function createAccount({ db, config }: AccountsRuntime): Route {
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
            Type.Number({ minimum: 0, maximum: MAX_CREDITS, ...SHOWN_CREDITS }),
            'What it can spend at first; null or absent: unlimited.',
          ),
        ),
      }),
      answers: { 201: accountSchema },
    },
    async handle({ body: { name, plan, credits = null }, actor, idempotency }) {
      const units = credits === null ? null : readUnits('credits', credits);
      const account = { id: makeId('acct'), name, plan, units, ledgerId: makeId('led') };
      return await db.transaction(async (tx) => {
        const row = await store.insertAccount(tx, account);
        const { id } = account;
        await recordChange(tx, actor, {
          accountId: id,
          action: 'account.created',
          targetId: id,
          details: { plan, credits },
        });
        return await idempotency.saveAnswer(tx, { status: 201, body: showAccount(row, config) });
      });
    },
  });
}

function listAccounts({ db, config }: AccountsRuntime): Route {
  return defineRoute({
    method: 'GET',
    path: '/admin/v1/accounts',
    auth: 'admin',
    summary: 'List accounts, newest first',
    tag: 'Accounts',
    schema: {
      query: Type.Object({
        ...pageFields,
        query: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 200,
            description: 'Part of the name, in any case, or the beginning of the id.',
          }),
        ),
      }),
      answers: { 200: accountListSchema },
    },
    async handle({ query: { limit, cursor, query = null } }) {
      const beforeId = decodeCursor('acct', cursor);
      const rows = await store.listAccounts(db, { query, limit: limit + 1, beforeId });
      return { status: 200, body: pageOf(rows, limit, (row) => showAccount(row, config)) };
    },
  });
}

function getAccount({ db, config }: AccountsRuntime): Route {
  return defineRoute({
    method: 'GET',
    path: '/admin/v1/accounts/:id',
    auth: 'admin',
    summary: 'Get an account',
    tag: 'Accounts',
    schema: { params: idParams, answers: { 200: accountSchema } },
    async handle({ params }) {
      return { status: 200, body: showAccount(await accountOr404(db, params.id), config) };
    },
  });
}

function changeAccount({ db, config, callers }: AccountsRuntime): Route {
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
    async handle({ params: { id }, body, actor }) {
      if (!isId('acct', id)) throw notFound();
      const change = { name: body.name ?? null, plan: body.plan ?? null };
      const details = { fields: Object.keys(body), ...(body.plan && { plan: body.plan }) };
      const account = await db.transaction(async (tx) => {
        const changed = await store.updateAccount(tx, id, change);
        if (!changed) throw notFound();
        await recordChange(tx, actor, { accountId: id, action: 'account.changed', targetId: id, details });
        return changed;
      });
      callers.forgetAll();
      return { status: 200, body: showAccount(account, config) };
    },
  });
}

function addCredits({ db, callers }: AccountsRuntime): Route {
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
          ...SHOWN_CREDITS,
          description: 'Credits; below zero to take away, even below what is there.',
        }),
        note: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
      }),
      answers: { 201: entrySchema },
    },
    async handle({ params, body: { amount, note }, actor, idempotency }) {
      const account = await accountOr404(db, params.id);
      const units = readUnits('amount', amount);
      refuseCredit(account, units);
      const answer = await db.transaction(async (tx) => {
        const entry = await addCredit(tx, { account, units, note: note ?? null });
        if (!entry) throw notFound();
        const change = { accountId: account.id, targetId: entry.id, details: { amount } };
        await recordChange(tx, actor, { action: 'credits.added', ...change });
        return await idempotency.saveAnswer(tx, { status: 201, body: showEntry(account.id, entry) });
      });
      callers.forgetAll();
      return answer;
    },
  });
}

/** Credits as units. @throws ApiError  400 for less than a balance can show: the entry would read 0 */
function readUnits(param: string, credits: number): number {
  if (credits === 0 || Math.abs(credits) >= LEAST_CREDITS) return unitsFromCredits(credits);
  const message = `${param} has less than ${LEAST_CREDITS.toFixed(6)} credits, the least that a balance shows; give more.`;
  throw new ApiError('invalid_request', message, { param });
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

async function accountOr404(db: Sql, id: string): Promise<AccountRow> {
  const account = isId('acct' satisfies IdPrefix, id) ? await store.findAccount(db, id) : null;
  if (!account) throw notFound();
  return account;
}

function notFound(): ApiError {
  return new ApiError('not_found', 'There is no such account.');
}
