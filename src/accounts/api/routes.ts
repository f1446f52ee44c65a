import type { Runtime } from '../../db/runtime.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { findAccount } from '../store.ts';
import { ledgerRoute } from './ledger-routes.ts';
import { ownAccountRoute } from './own-account.ts';
import { balanceSchema, showBalance } from './view.ts';

/** The routes with which an account's own keys read the account and its balance. */
export function accountRoutes(runtime: Runtime): Route[] {
  const { db, config } = runtime;
  return [
    ownAccountRoute(config),
    ledgerRoute(runtime),
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
        return { status: 200, body: showBalance(row, config) };
      },
    }),
  ];
}
