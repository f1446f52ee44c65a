import { recordChange } from '../../audit/record.ts';
import type { Config } from '../../config/settings.ts';
import type { Database, Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Route } from '../../http/route.ts';
import { defineRoute } from '../../http/route.ts';
import { component, idSchema, Type } from '../../http/schema.ts';
import type { Clock } from '../../platform/clock.ts';
import { emitWebhookTest } from '../events/emit.ts';
import { notifyDeliveriesDue } from '../events/store.ts';
import type { SecretBox } from '../secrets/secrets.ts';
import { makeWebhookSecret } from '../secrets/secrets.ts';
import { activeOr409, foundOr404, ownerOf, webhookIdOr404 } from './own-webhook.ts';
import { findWebhook, notifyWebhookChanged, rotateSecret, wakeFirstAttempts } from './store.ts';
import { showWebhook, webhookWithSecretSchema } from './view.ts';

export type ActionDeps = {
  db: Database;
  config: Pick<Config, 'webhookRetryDelaysMs'>;
  secretBox: SecretBox;
  clock: Clock;
};

const MAX_OVERLAP_SECONDS = 86_400;

const idParams = Type.Object({ id: Type.String() });
const testSentSchema = Type.Object(
  { event_id: idSchema('evt', 'evt_01kamz2f3q8r5t7v9wxyzabcde'), type: Type.Literal('webhook.test') },
  component('TestSent'),
);

/** Testing a webhook and giving it a new secret. */
export function webhookActionRoutes(deps: ActionDeps): Route[] {
  return [testRoute(deps), rotateSecretRoute(deps)];
}

function testRoute({ db, config }: ActionDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/webhooks/:id/test',
    auth: 'key',
    scope: 'webhooks:write',
    bucket: 'resend',
    summary: 'Send a webhook.test event to a webhook, whether or not it subscribes to that type',
    links: { get_events_id: { id: '$response.body#/event_id' } },
    tag: 'Webhooks',
    schema: { params: idParams, answers: { 202: testSentSchema } },
    async handle({ account, params, note, idempotency }) {
      const id = webhookIdOr404(params.id);
      const webhook = activeOr409(await findWebhook(db, ownerOf(account), id), 'testing it');
      const firstDelayMs = config.webhookRetryDelaysMs[0] ?? 0;
      const send = async (sql: Sql) => {
        const eventId = await emitWebhookTest(sql, { account, webhook: showWebhook(webhook), firstDelayMs });
        if (eventId === null) throw new ApiError('conflict', 'The webhook was disabled or deleted at this moment.');
        note({ event_id: eventId, webhook_id: id });
        return await idempotency.saveAnswer(sql, { status: 202, body: { event_id: eventId, type: 'webhook.test' } });
      };
      // Without a key there is one statement only, which needs no transaction.
      return idempotency.hasKey ? await db.transaction(send) : await send(db);
    },
  });
}

function rotateSecretRoute({ db, clock, secretBox }: ActionDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/webhooks/:id/rotate-secret',
    auth: 'key',
    scope: 'webhooks:write',
    summary: 'Give a webhook a new secret; during an overlap both sign',
    tag: 'Webhooks',
    schema: {
      params: idParams,
      body: Type.Object({
        overlap_seconds: Type.Integer({ minimum: 0, maximum: MAX_OVERLAP_SECONDS, default: 0 }),
      }),
      answers: { 200: webhookWithSecretSchema },
    },
    async handle({ account, actor, params, body: { overlap_seconds }, idempotency }) {
      const id = webhookIdOr404(params.id);
      const secret = makeWebhookSecret();
      return await db.transaction(async (tx) => {
        const row = await rotateSecret(tx, ownerOf(account), id, {
          secret: secretBox.seal(id, secret),
          overlapMs: overlap_seconds * 1000,
          now: new Date(clock.now()),
        });
        const shown = showWebhook(foundOr404(row));
        await recordChange(tx, actor, {
          accountId: account.id,
          action: 'webhook.secret_rotated',
          targetId: id,
          details: { overlap_seconds },
        });
        if ((await wakeFirstAttempts(tx, account.shard, id)) > 0) notifyDeliveriesDue(tx, account.shard);
        notifyWebhookChanged(tx, id);
        return await idempotency.saveAnswer(tx, { status: 200, body: { ...shown, secret } });
      });
    },
  });
}
