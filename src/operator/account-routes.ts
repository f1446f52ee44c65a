import { accountSchema, showAccount } from '../accounts/api/view.ts';
import { markDeleted } from '../accounts/erasure-store.ts';
import type { AccountsRuntime } from '../accounts/keys/callers.ts';
import { deleteKeysOfAccount } from '../accounts/keys/key-store.ts';
import { deleteInvitationsOf } from '../accounts/people/invitation-store.ts';
import { listUserIds } from '../accounts/people/member-store.ts';
import { deleteUsersWithoutAccount, holdUsers } from '../accounts/people/user-store.ts';
import { setSuspended } from '../accounts/store.ts';
import { recordChange } from '../audit/record.ts';
import { ApiError } from '../http/api-error.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { component, idSchema, oneOf, Type } from '../http/schema.ts';
import { isId } from '../rules/ids.ts';
import { notifyAccountChanged } from '../webhooks/endpoints/job-webhook-store.ts';

const idParams = Type.Object({ id: Type.String() });

const erasureSchema = Type.Object(
  { id: idSchema('acct', 'acct_01kamz2f3q8r5t7v9wxyzabcde'), status: oneOf(['erasing']) },
  component('AccountErasure', { id: 'acct_01kamz2f3q8r5t7v9wxyzabcde', status: 'erasing' }),
);
// More than an account may have; what is left is deleted with the rest.
const MAX_KEYS = 10_000;

/** Suspending accounts, resuming them, and deleting them with all that is theirs. */
export function accountStateRoutes(runtime: AccountsRuntime): Route[] {
  return [
    deletionRoute(runtime),
    suspensionRoute(runtime, {
      path: '/admin/v1/accounts/:id/suspend',
      isSuspended: true,
      action: 'account.suspended',
      summary: 'Suspend an account: its keys are answered 403, and its deliveries wait',
    }),
    suspensionRoute(runtime, {
      path: '/admin/v1/accounts/:id/resume',
      isSuspended: false,
      action: 'account.resumed',
      summary: 'Resume a suspended account: what waited is sent',
    }),
  ];
}

function deletionRoute({ db, callers }: AccountsRuntime): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/admin/v1/accounts/:id',
    auth: 'admin',
    summary: 'Delete an account, and erase all that belongs to it',
    description: [
      'From the answer on the account and its keys are unknown. Jobs, transcripts, audio, webhooks, events, logs, ledger and',
      'usage are erased in the background, in batches, also after a crash. Invitations, and users who are in no other account',
      'and no operators, are deleted at once. It cannot be undone.',
    ].join(' '),
    tag: 'Accounts',
    schema: { params: idParams, answers: { 202: erasureSchema } },
    async handle({ params: { id }, actor }) {
      if (!isId('acct', id)) throw noSuchAccount();
      await db.transaction(async (tx) => {
        const account = await markDeleted(tx, id);
        if (!account) throw noSuchAccount();
        await recordChange(tx, actor, { accountId: id, action: 'account.deleted', targetId: id });
        const users = await listUserIds(tx, account);
        await holdUsers(tx, users);
        await deleteKeysOfAccount(tx, account, MAX_KEYS);
        await deleteInvitationsOf(tx, id);
        await deleteUsersWithoutAccount(tx, users);
      });
      callers.forgetAll();
      return { status: 202, body: { id, status: 'erasing' } };
    },
  });
}

type Suspension = {
  path: string;
  summary: string;
  isSuspended: boolean;
  action: 'account.suspended' | 'account.resumed';
};

function suspensionRoute({ db, config, callers }: AccountsRuntime, change: Suspension): Route {
  const { path, summary, isSuspended, action } = change;
  return defineRoute({
    method: 'POST',
    path,
    auth: 'admin',
    summary,
    tag: 'Accounts',
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
        return await idempotency.saveAnswer(tx, { status: 200, body: showAccount(account, config) });
      });
      callers.forgetAll();
      return answer;
    },
  });
}

function noSuchAccount(): ApiError {
  return new ApiError('not_found', 'There is no such account.');
}
