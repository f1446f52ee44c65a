import { lockAccount } from '../../accounts/store.ts';
import { recordChange } from '../../audit/record.ts';
import type { Lookup } from '../../egress/dns/lookup.ts';
import { Resolver } from '../../egress/dns/resolve.ts';
import { permittedWebhook, resolveUrl } from '../../egress/url-check.ts';
import { decodeCursor, pageOf, pageQuery } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { Type } from '../../http/schema.ts';
import { makeId } from '../../platform/clock.ts';
import { INCLUDED_PARTS } from '../../rules/webhooks/included-body.ts';
import { makeWebhookSecret, type SecretsRuntime } from '../secrets/secrets.ts';
import { alertRoutes } from './alerts-routes.ts';
import {
  changeOf,
  changeWebhook,
  deleteWebhook,
  foldEvents,
  foldParts,
  type WebhookContext,
} from './change-webhook.ts';
import { eventsField, optionalFields, storedHeaders, urlField } from './fields.ts';
import { ownerOf, webhookIdOr404, webhookOr404 } from './own-webhook.ts';
import { rotateSecret } from './rotation-route.ts';
import * as store from './store.ts';
import { showWebhook, webhookListSchema, webhookSchema, webhookWithSecretSchema } from './view.ts';
import { requireFreeWebhook } from './webhook-limit.ts';

/** What the endpoints of webhooks run on. */
export type WebhookRuntime = SecretsRuntime & { lookup?: Lookup };

const idParams = Type.Object({ id: Type.String() });

const ownWebhook = { id: '$response.body#/id' };
const WEBHOOK_LINKS = {
  get_webhooks_id: ownWebhook,
  patch_webhooks_id: ownWebhook,
  delete_webhooks_id: ownWebhook,
  post_webhooks_id_test: ownWebhook,
  post_webhooks_id_rotate_secret: ownWebhook,
  post_webhooks_id_recover: ownWebhook,
  get_webhooks_id_deliveries: ownWebhook,
  get_webhooks_id_metrics: ownWebhook,
};

/** Registering, changing and deleting webhooks. */
export function webhookRoutes(runtime: WebhookRuntime): Route[] {
  const { secretBox, config, clock, lookup } = runtime;
  const allowedTargets = config.webhookAllowedTargets;
  const guard = { param: 'url', allowedTargets, resolver: new Resolver(lookup), clock };
  const context: WebhookContext = {
    ...runtime,
    readUrl: (raw) => permittedWebhook(raw, 'url', config),
    resolveUrl: (target, accountId) => resolveUrl(target, { ...guard, accountId }),
    storeHeaders: (id, headers) => storedHeaders(id, headers, { secretBox, headerPrefix: config.webhookHeaderPrefix }),
  };
  return [
    createWebhook(context),
    listWebhooks(context),
    getWebhook(context),
    patchWebhook(context),
    removeWebhook(context),
    rotateSecret(runtime),
    ...alertRoutes(context),
  ];
}

function createWebhook({ db, secretBox, clock, readUrl, resolveUrl, storeHeaders }: WebhookContext): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/webhooks',
    auth: 'key',
    scope: 'webhooks:write',
    summary: 'Register a webhook',
    errors: ['forbidden_url', 'plan_limit'],
    links: WEBHOOK_LINKS,
    tag: 'Webhooks',
    schema: {
      body: Type.Object({ url: urlField, events: eventsField, ...optionalFields }),
      answers: { 201: webhookWithSecretSchema },
    },
    async handle({ account, actor, body, note, idempotency }) {
      const target = readUrl(body.url);
      const id = makeId('wh', clock);
      const headers = storeHeaders(id, body.headers ?? null);
      // Checked again below, under a lock. Checked here so that no name is resolved for a webhook over the plan's
      // limit.
      await requireFreeWebhook(db, ownerOf(account), account.plan);
      const url = await resolveUrl(target, account.id);
      const secret = makeWebhookSecret();
      note({ webhook_id: id });
      return await db.transaction(async (tx) => {
        await requireFreeWebhook(tx, ownerOf(account), await lockAccount(tx, account));
        const row = await store.insertWebhook(tx, ownerOf(account), {
          id,
          url,
          events: foldEvents(body.events),
          description: body.description ?? null,
          secret: secretBox.seal(id, secret),
          headers,
          maxPerSecond: body.max_per_second ?? null,
          include: foldParts(body.include ?? INCLUDED_PARTS),
          now: new Date(clock.now()),
        });
        await recordChange(tx, actor, changeOf(account, id, 'webhook.created', { events: row.events }));
        return await idempotency.saveAnswer(tx, { status: 201, body: { ...showWebhook(row), secret } });
      });
    },
  });
}

function listWebhooks({ db }: WebhookContext): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/webhooks',
    auth: 'key',
    scope: 'webhooks:read',
    summary: 'List webhooks, newest first',
    tag: 'Webhooks',
    schema: { query: pageQuery, answers: { 200: webhookListSchema } },
    async handle({ account, query: { limit, cursor } }) {
      const page = { limit: limit + 1, beforeId: decodeCursor('wh', cursor) };
      return { status: 200, body: pageOf(await store.listWebhooks(db, ownerOf(account), page), limit, showWebhook) };
    },
  });
}

function getWebhook({ db }: WebhookContext): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/webhooks/:id',
    auth: 'key',
    scope: 'webhooks:read',
    summary: 'Get a webhook',
    tag: 'Webhooks',
    schema: { params: idParams, answers: { 200: webhookSchema } },
    async handle({ account, params }) {
      return { status: 200, body: showWebhook(await webhookOr404(db, account, params.id)) };
    },
  });
}

function patchWebhook(context: WebhookContext): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/v1/webhooks/:id',
    auth: 'key',
    scope: 'webhooks:write',
    summary: 'Change a webhook; active: true enables it again and starts its streak of failures anew',
    errors: ['forbidden_url', 'conflict', 'plan_limit'],
    tag: 'Webhooks',
    schema: {
      params: idParams,
      body: Type.Object(
        {
          url: Type.Optional(urlField),
          events: Type.Optional(eventsField),
          ...optionalFields,
          active: Type.Optional(Type.Boolean()),
        },
        { minProperties: 1 },
      ),
      answers: { 200: webhookSchema },
    },
    async handle({ account, actor, params, body }) {
      const before = await webhookOr404(context.db, account, params.id);
      return { status: 200, body: showWebhook(await changeWebhook(context, { account, actor }, before, body)) };
    },
  });
}

function removeWebhook(context: WebhookContext): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/webhooks/:id',
    auth: 'key',
    scope: 'webhooks:write',
    summary: 'Delete a webhook; after a second nothing more is sent to it',
    tag: 'Webhooks',
    schema: { params: idParams, answers: { 204: null } },
    async handle({ account, actor, params }) {
      await deleteWebhook(context, { account, actor }, webhookIdOr404(params.id));
      return { status: 204 };
    },
  });
}
