import type { Sql } from '../db/database.ts';
import type { Runtime } from '../db/runtime.ts';
import { decodeCursor, pageFields, pageOf } from '../http/pagination.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { component, idSchema, nullable, oneOf, pageSchema, type Static, Type, timeSchema } from '../http/schema.ts';
import { shardOf } from '../rules/shard.ts';
import { AUDIT_ACTIONS } from './actions.ts';
import { type AuditRow, listChanges } from './store.ts';

const EXAMPLE = {
  id: 'aud_01kamz2f3q8r5t7v9wxyzabcde',
  created_at: '2026-11-21T09:30:00.000Z',
  actor: { type: 'key', key_id: 'key_01kamz2f3q8r5t7v9wxyzabcde', user_id: null, name: 'call recorder' },
  address: '203.0.113.7',
  action: 'webhook.changed',
  account_id: 'acct_01kamz2f3q8r5t7v9wxyzabcde',
  target_id: 'wh_01kamz2f3q8r5t7v9wxyzabcde',
  target_name: null,
  details: { fields: ['url'] },
  request_id: 'req_01kamz2f3q8r5t7v9wxyzabcde',
};

const auditSchema = Type.Object(
  {
    id: idSchema('aud', EXAMPLE.id),
    created_at: timeSchema,
    actor: Type.Object(
      {
        type: oneOf(['operator', 'user', 'key']),
        key_id: nullable(Type.String()),
        user_id: nullable(Type.String()),
        name: nullable(Type.String(), 'Of the user or the key now; null when it is gone, or has none.'),
      },
      { description: 'operator: the token of the operator; user: a session of a user.' },
    ),
    address: Type.String({ description: 'The peer of the connection; a proxy, where one is in front of the service.' }),
    action: oneOf(AUDIT_ACTIONS),
    account_id: Type.String({ description: 'The account that was changed; empty when all were.' }),
    target_id: Type.String({ description: 'The account, key, user, invitation, webhook or ledger entry.' }),
    target_name: nullable(Type.String(), 'The present name of a user or a key; null for others.'),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Names of changed fields, plan, amount, scopes.',
    }),
    request_id: Type.String(),
  },
  component('AuditEntry', EXAMPLE),
);

/** Users and keys by id. `shards`: of the keys. */
type Actors = { userIds: readonly string[]; keyIds: readonly string[]; shards: readonly number[] };
type FindNames = (sql: Sql, actors: Actors) => Promise<ReadonlyMap<string, string>>;

/** What operators and keys changed, for the operator. @param findNames  the present names of users and keys, by id */
export function auditRoutes({ db }: Runtime, findNames: FindNames): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/admin/v1/audit',
      auth: 'admin',
      summary: 'List what operators and keys changed, newest first; kept for a year',
      tag: 'Audit',
      schema: {
        query: Type.Object({
          ...pageFields,
          account_id: Type.Optional(Type.String({ description: 'Changes of one account.' })),
          action: Type.Optional(oneOf(AUDIT_ACTIONS)),
        }),
        answers: { 200: pageSchema('AuditList', auditSchema) },
      },
      async handle({ query: { limit, cursor, account_id: accountId = null, action = null } }) {
        const page = { limit: limit + 1, beforeId: decodeCursor('aud', cursor) };
        const rows = await listChanges(db, { accountId, action }, page);
        const names = await findNames(db, actorsIn(rows));
        return { status: 200, body: pageOf(rows, limit, (row) => showChange(row, names)) };
      },
    }),
  ];
}

/** The users and keys that the changes were made by or made to. */
function actorsIn(rows: readonly AuditRow[]): Actors {
  const ids = [...new Set(rows.flatMap(({ keyId, userId, targetId }) => [keyId ?? '', userId ?? '', targetId]))];
  return {
    userIds: ids.filter((id) => id.startsWith('usr_')),
    keyIds: ids.filter((id) => id.startsWith('key_')),
    shards: [...new Set(rows.map(({ accountId }) => shardOf(accountId)))],
  };
}

type Names = ReadonlyMap<string, string>;

function showChange(row: AuditRow, names: Names): Static<typeof auditSchema> {
  return {
    id: row.id,
    created_at: row.createdAt.toISOString(),
    actor: showActor(row, names),
    address: row.address,
    action: row.action,
    account_id: row.accountId,
    target_id: row.targetId,
    target_name: names.get(row.targetId) ?? null,
    details: row.details,
    request_id: row.requestId,
  };
}

function showActor({ keyId, userId }: AuditRow, names: Names): Static<typeof auditSchema>['actor'] {
  const name = names.get(userId ?? keyId ?? '') ?? null;
  if (userId !== null) return { type: 'user', key_id: null, user_id: userId, name };
  return { type: keyId === null ? 'operator' : 'key', key_id: keyId, user_id: null, name };
}
