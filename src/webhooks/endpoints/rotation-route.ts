import { recordChange } from '../../audit/record.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { Type } from '../../http/schema.ts';
import { notifyDeliveriesDue } from '../events/store.ts';
import { makeWebhookSecret, type SecretsRuntime } from '../secrets/secrets.ts';
import { anyWebhookIdOr404, foundOr404, ownerOf } from './own-webhook.ts';
import * as store from './store.ts';
import { showWebhook, webhookWithSecretSchema } from './view.ts';

const MAX_OVERLAP_SECONDS = 86_400;

/** POST /v1/webhooks/:id/rotate-secret. */
export function rotateSecret({ db, clock, secretBox }: SecretsRuntime): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/webhooks/:id/rotate-secret',
    auth: 'key',
    scope: 'webhooks:write',
    summary: 'Give a webhook a new secret; during an overlap both sign',
    tag: 'Webhooks',
    schema: {
      params: Type.Object({ id: Type.String() }),
      body: Type.Object({
        overlap_seconds: Type.Integer({ minimum: 0, maximum: MAX_OVERLAP_SECONDS, default: 0 }),
      }),
      answers: { 200: webhookWithSecretSchema },
    },
    async handle({ account, actor, params, body: { overlap_seconds }, idempotency }) {
      const id = anyWebhookIdOr404(params.id);
      const secret = makeWebhookSecret();
      return await db.transaction(async (tx) => {
        const row = await store.rotateSecret(tx, ownerOf(account), id, {
          secret: secretBox.seal(id, secret),
          overlapMs: overlap_seconds * 1000,
          now: new Date(clock.now()),
        });
        const shown = showWebhook(foundOr404(row));
        await recordChange(tx, actor, {
          accountId: account.id,
          action: 'webhook.secret_rotated',
          targetId: id,
          isDefence: true,
          details: { overlap_seconds },
        });
        if ((await store.wakeFirstAttempts(tx, account.shard, id)) > 0) notifyDeliveriesDue(tx, account.shard);
        store.notifyWebhookChanged(tx, id);
        return await idempotency.saveAnswer(tx, { status: 200, body: { ...shown, secret } });
      });
    },
  });
}
