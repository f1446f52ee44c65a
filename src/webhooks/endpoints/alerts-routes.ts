import type { Account } from '../../accounts/account.ts';
import { recordChange } from '../../audit/record.ts';
import type { Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { component, nullable, Type } from '../../http/schema.ts';
import { alertsWebhookIdOf } from '../../rules/ids.ts';
import { makeWebhookSecret } from '../secrets/secrets.ts';
import { setAlertsWebhook } from './alerts-store.ts';
import { changeOf, changeWebhook, deleteWebhook, type WebhookContext } from './change-webhook.ts';
import { optionalFields, urlField } from './fields.ts';
import { ownerOf } from './own-webhook.ts';
import { findWebhook, notifyWebhookChanged, type WebhookRow } from './store.ts';
import { showWebhook, webhookSchema, webhookWithSecretSchema } from './view.ts';

const alertsSchema = Type.Object({ webhook: nullable(webhookSchema, 'Null: none was set.') }, component('Alerts'));

/**
 * The webhook that gets the alerts of an account. Of the routes under /v1/webhooks/:id it has those for tests,
 * deliveries and rotating the secret.
 */
export function alertRoutes(context: WebhookContext): Route[] {
  return [readAlerts(context), setAlerts(context), changeAlerts(context), deleteAlerts(context)];
}

function readAlerts({ db }: WebhookContext): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/alerts',
    auth: 'key',
    scope: 'webhooks:read',
    summary: 'The webhook that gets the alerts of the account',
    tag: 'Webhooks',
    schema: { answers: { 200: alertsSchema } },
    async handle({ account }) {
      const row = await findAlertsWebhook(db, account);
      return { status: 200, body: { webhook: row && showWebhook(row) } };
    },
  });
}

function setAlerts({ db, secretBox, clock, readUrl, resolveUrl }: WebhookContext): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/alerts',
    auth: 'key',
    scope: 'webhooks:write',
    summary: 'Set the URL that is told when a webhook is disabled or a delivery has used up its attempts',
    description:
      'It gets the events `webhook.disabled` and `webhook.exhausted`, signed as all deliveries are, and tests. It does not count as a webhook of the plan. A new URL has a new secret.',
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
        await recordChange(tx, actor, changeOf(account, id, 'webhook.changed', { fields: ['url'] }));
        notifyWebhookChanged(tx, id);
        return await idempotency.saveAnswer(tx, { status: 201, body: { ...showWebhook(row), secret } });
      });
    },
  });
}

function changeAlerts(context: WebhookContext): Route {
  const { description, headers, max_per_second } = optionalFields;
  return defineRoute({
    method: 'PATCH',
    path: '/v1/alerts',
    auth: 'key',
    scope: 'webhooks:write',
    summary: 'Change the webhook for alerts; active: true enables it again and starts its streak of failures anew',
    errors: ['forbidden_url', 'conflict', 'not_found'],
    tag: 'Webhooks',
    schema: {
      body: Type.Object(
        {
          url: Type.Optional(urlField),
          description,
          headers,
          max_per_second,
          active: Type.Optional(Type.Boolean()),
        },
        { minProperties: 1 },
      ),
      answers: { 200: webhookSchema },
    },
    async handle({ account, actor, body }) {
      const before = await findAlertsWebhook(context.db, account);
      if (before === null) throw noAlertsWebhook();
      return { status: 200, body: showWebhook(await changeWebhook(context, { account, actor }, before, body)) };
    },
  });
}

function deleteAlerts(context: WebhookContext): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/alerts',
    auth: 'key',
    scope: 'webhooks:write',
    summary: 'Delete the webhook for alerts; after a second nothing more is sent to it',
    errors: ['not_found'],
    tag: 'Webhooks',
    schema: { answers: { 204: null } },
    async handle({ account, actor }) {
      if ((await findAlertsWebhook(context.db, account)) === null) throw noAlertsWebhook();
      await deleteWebhook(context, { account, actor }, alertsWebhookIdOf(account.id));
      return { status: 204 };
    },
  });
}

async function findAlertsWebhook(sql: Sql, account: Account): Promise<WebhookRow | null> {
  return await findWebhook(sql, ownerOf(account), alertsWebhookIdOf(account.id));
}

function noAlertsWebhook(): ApiError {
  return new ApiError('not_found', 'There is no webhook for alerts; set one with POST /v1/alerts.');
}
