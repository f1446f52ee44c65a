import type { Sql } from '../../db/database.ts';
import type { Route } from '../../http/route.ts';
import { defineRoute } from '../../http/route.ts';
import { findAccount } from '../store.ts';
import { ledgerRoute } from './ledger-routes.ts';
import type { OwnAccountConfig } from './own-account.ts';
import { ownAccountRoute } from './own-account.ts';
import type { Rates } from './view.ts';
import { balanceSchema, showBalance } from './view.ts';

export type AccountDeps = { db: Sql; rates: Rates; config: OwnAccountConfig };

/** The routes with which an account's own keys read the account and its balance. */
export function accountRoutes({ db, rates, config }: AccountDeps): Route[] {
  return [
    ownAccountRoute(config),
    ledgerRoute({ db }),
    defineRoute({
      method: 'GET',
      path: '/v1/balance',
      auth: 'key',
      scope: 'usage:read',
      bucket: 'balance',
      summary: 'What the account can spend, and at which rates',
      tag: 'Balance',
      schema: { answers: { 200: balanceSchema } },
      async handle({ account }) {
        const row = await findAccount(db, account.id);
        if (!row) throw new Error(`account ${account.id} has a key but no row`);
        return { status: 200, body: showBalance(row, rates) };
      },
    }),
  ];
}
