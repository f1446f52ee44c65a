import type { AuditAction } from '../../audit/actions.ts';
import { recordChange } from '../../audit/record.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { component, nullable, Type } from '../../http/schema.ts';
import { alertsWebhookIdOf } from '../../rules/ids.ts';
import type { UrlTarget } from '../../rules/network/url-guard.ts';
import { makeWebhookSecret, type SecretsRuntime } from '../secrets/secrets.ts';
import { setAlertsWebhook } from './alerts-store.ts';
import { urlField } from './fields.ts';
import { ownerOf } from './own-webhook.ts';
import { findWebhook, notifyWebhookChanged } from './store.ts';
import { showWebhook, webhookSchema, webhookWithSecretSchema } from './view.ts';

/** Both throw ApiError for a URL that a webhook may not have. */
type AlertsContext = SecretsRuntime & {
  readUrl(raw: string): UrlTarget;
  resolveUrl(target: UrlTarget, accountId: string): Promise<string>;
};

const ACTION: AuditAction = 'webhook.changed';
const alertsSchema = Type.Object({ webhook: nullable(webhookSchema, 'Null: none was set.') }, component('Alerts'));

/** The webhook that gets the alerts of an account. It is read, changed, tested and deleted under /v1/webhooks/:id. */
export function alertRoutes(context: AlertsContext): Route[] {
  return [readAlerts(context), setAlerts(context)];
}

function readAlerts({ db }: AlertsContext): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/alerts',
    auth: 'key',
    scope: 'webhooks:read',
    summary: 'The webhook that gets the alerts of the account',
    tag: 'Webhooks',
    schema: { answers: { 200: alertsSchema } },
    async handle({ account }) {
      const row = await findWebhook(db, ownerOf(account), alertsWebhookIdOf(account.id));
      return { status: 200, body: { webhook: row && showWebhook(row) } };
    },
  });
}

function setAlerts({ db, secretBox, clock, readUrl, resolveUrl }: AlertsContext): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/alerts',
    auth: 'key',
    scope: 'webhooks:write',
    summary: 'Set the URL that is told when a webhook is disabled or a delivery has used up its attempts',
    description:
      'It gets the events `webhook.disabled` and `webhook.exhausted`, signed as all deliveries are, and does not count as a webhook of the plan. A new URL has a new secret.',
    errors: ['forbidden_url'],
    tag: 'Webhooks',
    schema: { body: Type.Object({ url: urlField }), answers: { 201: webhookWithSecretSchema } },
    async handle({ account, actor, body, note, idempotency }) {
      const url = await resolveUrl(readUrl(body.url), account.id);
      const id = alertsWebhookIdOf(account.id);
      const secret = makeWebhookSecret();
      note({ webhook_id: id });
      return await db.transaction(async (tx) => {
        const alerts = { id, url, secret: secretBox.seal(id, secret), now: new Date(clock.now()) };
        const row = await setAlertsWebhook(tx, ownerOf(account), alerts);
        const details = { fields: ['url'] };
        await recordChange(tx, actor, { accountId: account.id, action: ACTION, targetId: id, details });
        notifyWebhookChanged(tx, id);
        return await idempotency.saveAnswer(tx, { status: 201, body: { ...showWebhook(row), secret } });
      });
    },
  });
}
