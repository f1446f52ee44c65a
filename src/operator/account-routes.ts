import type { Rates } from '../accounts/api/view.ts';
import { accountSchema, showAccount } from '../accounts/api/view.ts';
import type { Callers } from '../accounts/keys/callers.ts';
import { setSuspended } from '../accounts/store.ts';
import { recordChange } from '../audit/record.ts';
import type { Database } from '../db/database.ts';
import { ApiError } from '../http/api-error.ts';
import type { Route } from '../http/route.ts';
import { defineRoute } from '../http/route.ts';
import { Type } from '../http/schema.ts';
import { isId } from '../rules/ids.ts';
import { notifyAccountChanged } from '../webhooks/endpoints/job-webhook-store.ts';

export type AccountStateDeps = { db: Database; callers: Pick<Callers, 'forgetAll'>; rates: Rates };

const idParams = Type.Object({ id: Type.String() });

/** Suspending accounts, and resuming them. */
export function accountStateRoutes(deps: AccountStateDeps): Route[] {
  return [
    suspensionRoute(deps, {
      ...{ path: '/admin/v1/accounts/:id/suspend', isSuspended: true, action: 'account.suspended' },
      summary: 'Suspend an account: its keys are answered 403, and its deliveries wait',
    }),
    suspensionRoute(deps, {
      ...{ path: '/admin/v1/accounts/:id/resume', isSuspended: false, action: 'account.resumed' },
      summary: 'Resume a suspended account: what waited is sent',
    }),
  ];
}

type Suspension = {
  path: string;
  summary: string;
  isSuspended: boolean;
  action: 'account.suspended' | 'account.resumed';
};

function suspensionRoute({ db, callers, rates }: AccountStateDeps, change: Suspension): Route {
  const { path, summary, isSuspended, action } = change;
  return defineRoute({
    ...{ method: 'POST', path, auth: 'admin', summary, tag: 'Accounts' },
    description:
      'Repeating it changes nothing. In force at once on the node that answers, and within a second on others.',
    schema: { params: idParams, answers: { 200: accountSchema } },
    async handle({ params: { id }, actor, idempotency }) {
      if (!isId('acct', id)) throw noSuchAccount();
      const answer = await db.transaction(async (tx) => {
        const account = await setSuspended(tx, id, isSuspended);
        if (!account) throw noSuchAccount();
        await recordChange(tx, actor, { accountId: id, action, targetId: id });
        await notifyAccountChanged(tx, { shard: account.shard, accountId: id });
        return await idempotency.saveAnswer(tx, { status: 200, body: showAccount(account, rates) });
      });
      callers.forgetAll();
      return answer;
    },
  });
}

function noSuchAccount(): ApiError {
  return new ApiError('not_found', 'There is no such account.');
}
