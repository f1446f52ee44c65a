import { recordChange } from '../../audit/record.ts';
import type { Runtime } from '../../db/runtime.ts';
import { ApiError } from '../../http/api-error.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { component, idSchema, oneOf, Type, timeSchema } from '../../http/schema.ts';
import { makeId } from '../../platform/clock.ts';
import { SCOPES } from '../../rules/accounts/scopes.ts';
import { isId } from '../../rules/ids.ts';
import { shardOf } from '../../rules/shard.ts';
import { countPortalKeys, deleteEndedPortalKeys, insertKey } from '../keys/key-store.ts';
import { makeKey } from '../keys/keys.ts';
import { publicPage } from '../public-page.ts';
import { lockAccount } from '../store.ts';

const DEFAULT_SECONDS = 3_600;
const MAX_SECONDS = 7 * 86_400;
const MAX_LINKS_PER_ACCOUNT = 1_000;

const linkSchema = Type.Object(
  {
    url: Type.String({
      description:
        'Opens the console; relative to the address of the service unless PUBLIC_URL names it. Shown only here.',
    }),
    key_id: idSchema('key', 'key_01kamz2f3q8r5t7v9wxyzabcde', {
      description: 'The key behind the link: deleting it ends the link, and the keys that were made by way of it.',
    }),
    scopes: Type.Array(oneOf(SCOPES)),
    expires_at: timeSchema,
  },
  component('PortalLink', {
    url: '/#token=vb_…',
    key_id: 'key_01kamz2f3q8r5t7v9wxyzabcde',
    scopes: ['jobs:read', 'webhooks:read'],
    expires_at: '2026-11-21T10:30:00.000Z',
  }),
);

/** Links that open the console for the users of an account, without a key of their own. */
export function portalRoutes({ db, config }: Runtime): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/admin/v1/accounts/:id/portal-links',
      auth: 'admin',
      summary: 'Create a link that opens the console with some scopes, for a limited time',
      links: { delete_admin_keys_id: { id: '$response.body#/key_id' } },
      tag: 'Keys',
      schema: {
        params: Type.Object({ id: Type.String() }),
        body: Type.Object({
          scopes: Type.Array(oneOf(SCOPES), { minItems: 1, maxItems: 100, description: 'What the link permits.' }),
          expires_in: Type.Optional(
            Type.Integer({ minimum: 60, maximum: MAX_SECONDS, default: DEFAULT_SECONDS, description: 'Seconds.' }),
          ),
        }),
        answers: { 201: linkSchema },
      },
      async handle({ params: { id: accountId }, body, actor, idempotency, note }) {
        if (!isId('acct', accountId)) throw notFound();
        const scopes = SCOPES.filter((scope) => body.scopes.includes(scope));
        const expiresAt = new Date(Date.now() + 1000 * (body.expires_in ?? DEFAULT_SECONDS));
        const { key, prefix, hash } = makeKey();
        const id = makeId('key');
        return await db.transaction(async (tx) => {
          if ((await lockAccount(tx, { shard: shardOf(accountId), id: accountId })) === null) throw notFound();
          await deleteEndedPortalKeys(tx, accountId);
          if ((await countPortalKeys(tx, accountId)) >= MAX_LINKS_PER_ACCOUNT) {
            throw new ApiError('conflict', `An account has at most ${MAX_LINKS_PER_ACCOUNT} links at a time.`);
          }
          const row = { id, name: 'Portal link', prefix, hash, scopes, expiresAt, isPortal: true };
          await insertKey(tx, accountId, row);
          const details = { scopes, expires_at: expiresAt.toISOString(), is_portal_link: true };
          await recordChange(tx, actor, { accountId, action: 'key.created', targetId: id, details });
          note({ new_key_id: id });
          const link = {
            url: publicPage(config, `#token=${key}`),
            key_id: id,
            scopes,
            expires_at: expiresAt.toISOString(),
          };
          return await idempotency.saveAnswer(tx, { status: 201, body: link });
        });
      },
    }),
  ];
}

function notFound(): ApiError {
  return new ApiError('not_found', 'There is no such account.');
}
