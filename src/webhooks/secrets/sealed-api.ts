import { recordChange } from '../../audit/record.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { component, nullable, Type } from '../../http/schema.ts';
import { headersPlace } from './own-headers.ts';
import { countNotSealedBy, listNotSealedBy, replaceSealed, type SealedPlace, type SealedRow } from './sealed-store.ts';
import type { SecretBox, SecretsRuntime } from './secrets.ts';

// One UPDATE each: 0.1 s for all, without locks that deliveries wait for.
const BATCH = 100;

const cursorSchema = Type.String({
  pattern: '^([1-5]?[0-9]|6[0-3])_wh[ja]?_[0-9a-hjkmnp-tv-z]{26}$',
  errorMessage: 'is not one of this list; pass on the next_cursor of the answer before',
  description: '`next_cursor` of the answer before; absent to begin. Opaque.',
});

const answerSchema = Type.Object(
  {
    rotated: Type.Integer({ description: 'Webhooks whose secrets and headers were sealed anew by this request.' }),
    unreadable: Type.Integer({
      description: 'Webhooks whose secrets or headers no listed key opens; they stay as they are.',
    }),
    next_cursor: nullable(Type.String(), 'Where the next request goes on; null at the end.'),
    remaining: nullable(
      Type.Integer(),
      'At the end: webhooks whose secrets or headers are not sealed by the first key.',
    ),
  },
  component('SecretsRotation', { rotated: 12, unreadable: 0, next_cursor: null, remaining: 0 }),
);

/** Sealing the webhooks' secrets and headers anew with the first key of SECRETS_KEY, while the service runs. */
export function sealedRoutes({ db, secretBox, batch = BATCH }: SecretsRuntime & { batch?: number }): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/admin/v1/secrets/rotate',
      auth: 'admin',
      summary:
        "Encrypt the next webhooks' secrets and headers with the first key of SECRETS_KEY; repeat until next_cursor is null",
      description: 'Each webhook is a statement of its own: what was done stays done, and a pass may begin anew.',
      tag: 'Secrets',
      schema: {
        body: Type.Object({ cursor: Type.Optional(cursorSchema) }),
        answers: { 200: answerSchema },
      },
      async handle({ body, actor }) {
        const header = secretBox.currentHeader;
        const rows = await listNotSealedBy(db, header, { after: readPlace(body.cursor), limit: batch });
        let rotated = 0;
        let unreadable = 0;
        for (const row of rows) {
          const fresh = resealed(row, secretBox);
          if (fresh === null) unreadable += 1;
          // False when the owner has rotated the secret in the meantime; the count at the end finds what is left.
          else if (await replaceSealed(db, row, fresh)) rotated += 1;
        }
        if (rows.length === batch) {
          return { status: 200, body: { rotated, unreadable, next_cursor: writePlace(rows.at(-1)!), remaining: null } };
        }
        const remaining = await countNotSealedBy(db, header);
        const change = { accountId: '', targetId: '', details: { remaining } };
        await recordChange(db, actor, { action: 'secrets.rotated', ...change });
        return { status: 200, body: { rotated, unreadable, next_cursor: null, remaining } };
      },
    }),
  ];
}

/** Null when no key opens them. */
function resealed({ id, secret, previousSecret, headers }: SealedRow, box: SecretBox) {
  try {
    return {
      secret: box.reseal(id, secret),
      previousSecret: previousSecret && box.reseal(id, previousSecret),
      headers: headers && box.reseal(headersPlace(id), headers),
    };
  } catch {
    return null;
  }
}

function writePlace({ shard, id }: SealedPlace): string {
  return `${shard}_${id}`;
}

/** @param cursor  matches the pattern of the schema */
function readPlace(cursor: string | undefined): SealedPlace | null {
  if (cursor === undefined) return null;
  const end = cursor.indexOf('_');
  return { shard: Number(cursor.slice(0, end)), id: cursor.slice(end + 1) };
}
