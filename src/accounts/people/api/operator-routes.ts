import { recordChange } from '../../../audit/record.ts';
import { ApiError } from '../../../http/api-error.ts';
import { decodeCursor, pageOf, pageQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { component, pageSchema, Type } from '../../../http/schema.ts';
import { isId } from '../../../rules/ids.ts';
import { deleteInvitationsOfOperator } from '../invitation-store.ts';
import { requireOperatorStill } from '../owners.ts';
import type { PeopleRuntime } from '../people-runtime.ts';
import { countOperators, deleteUsersWithoutAccount, endOperator, listOperators, lockUsers } from '../user-store.ts';
import { idParams, userIdSchema } from './fields.ts';

const TAG = 'Users';

const operatorSchema = Type.Object(
  { id: userIdSchema, name: Type.String(), email: Type.String() },
  component('Operator', { id: 'usr_01kamz2f3q8r5t7v9wxyzabcde', name: 'Olga', email: 'olga@example.com' }),
);

/** Who is an operator by a session, and the end of that. Invitations make operators. */
export function operatorUserRoutes({ db, callers }: PeopleRuntime): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/v1/operators',
      auth: 'admin',
      summary: 'List the users who are operators, newest first',
      tag: TAG,
      schema: { query: pageQuery, answers: { 200: pageSchema('OperatorList', operatorSchema) } },
      async handle({ query: { limit, cursor } }) {
        const rows = await listOperators(db, { limit: limit + 1, beforeId: decodeCursor('usr', cursor) });
        return { status: 200, body: pageOf(rows, limit, ({ id, name, email }) => ({ id, name, email })) };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/admin/v1/operators/:id',
      auth: 'admin',
      summary: 'Make a user an operator no more, at once on this node and within a second on every other',
      description:
        'The invitations that the user made as an operator end. A user who is in no account is deleted. One operator remains.',
      errors: ['conflict'],
      tag: TAG,
      schema: { params: idParams, answers: { 204: null } },
      async handle({ params: { id }, actor }) {
        await db.transaction(async (tx) => {
          await lockUsers(tx);
          await requireOperatorStill(tx, actor);
          if (!isId('usr', id) || !(await endOperator(tx, id))) {
            throw new ApiError('not_found', 'There is no such operator.');
          }
          // While there is no user at all, whoever has read the log of the first start could make the first one.
          if ((await countOperators(tx)) === 0) {
            throw new ApiError('conflict', 'This is the last operator; invite another one first.');
          }
          await deleteInvitationsOfOperator(tx, id);
          await deleteUsersWithoutAccount(tx, [id]);
          const change = { accountId: '', targetId: id, details: { operator: false } };
          await recordChange(tx, actor, { action: 'user.changed', ...change });
        });
        callers.forgetAll();
        return { status: 204 };
      },
    }),
  ];
}
