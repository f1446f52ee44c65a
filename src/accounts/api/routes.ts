import type { Sql } from '../../db/database.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { findAccount } from '../store.ts';
import { ledgerRoute } from './ledger-routes.ts';
import { type OwnAccountConfig, ownAccountRoute } from './own-account.ts';
import { balanceSchema, type Rates, showBalance } from './view.ts';

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
