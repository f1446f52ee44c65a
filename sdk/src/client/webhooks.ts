import type {
  Alerts,
  Delivery,
  DeliveryWithExchange,
  GetDeliveriesQuery,
  GetWebhooksIdMetricsQuery,
  GetWebhooksQuery,
  PatchAlertsBody,
  PatchWebhooksIdBody,
  PostAlertsBody,
  PostWebhooksBody,
  PostWebhooksIdDiagnoseBody,
  PostWebhooksIdRecoverBody,
  PostWebhooksIdRotateSecretBody,
  PostWebhooksIdTestBody,
  Recovered,
  Redelivered,
  RedeliveredMany,
  SignatureDiagnosis,
  TestSent,
  Webhook,
  WebhookMetrics,
  WebhookWithSecret,
} from '../api.ts';
import type { Pages } from './http/pages.ts';
import type { RequestOptions } from './http/settings.ts';
import { route, type Transport } from './http/transport.ts';

/** Where events are delivered. */
export class Webhooks {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  /** The answer has the `secret`, which is shown only then. */
  async create(body: PostWebhooksBody, options?: RequestOptions): Promise<WebhookWithSecret> {
    return await this.#http.json('POST', '/v1/webhooks', { ...options, body });
  }

  async get(id: string, options?: RequestOptions): Promise<Webhook> {
    return await this.#http.json('GET', route`/v1/webhooks/${id}`, options);
  }

  list(filter?: GetWebhooksQuery, options?: RequestOptions): Pages<Webhook> {
    return this.#http.pages('/v1/webhooks', filter, options);
  }

  /** Changes the given fields. `active: true` enables a disabled webhook. */
  async update(id: string, body: PatchWebhooksIdBody, options?: RequestOptions): Promise<Webhook> {
    return await this.#http.json('PATCH', route`/v1/webhooks/${id}`, { ...options, body });
  }

  async delete(id: string, options?: RequestOptions): Promise<void> {
    await this.#http.json('DELETE', route`/v1/webhooks/${id}`, options);
  }

  /** The webhook that is told of disabled webhooks and of deliveries that have used up their attempts. */
  async alerts(options?: RequestOptions): Promise<Alerts> {
    return await this.#http.json('GET', '/v1/alerts', options);
  }

  /** Sets the URL of the webhook for alerts, with a new secret that only this answer shows. */
  async setAlerts(body: PostAlertsBody, options?: RequestOptions): Promise<WebhookWithSecret> {
    return await this.#http.json('POST', '/v1/alerts', { ...options, body });
  }

  /** Changes the given fields of the webhook for alerts. `active: true` enables it again. */
  async updateAlerts(body: PatchAlertsBody, options?: RequestOptions): Promise<Webhook> {
    return await this.#http.json('PATCH', '/v1/alerts', { ...options, body });
  }

  async deleteAlerts(options?: RequestOptions): Promise<void> {
    await this.#http.json('DELETE', '/v1/alerts', options);
  }

  /** Sends an example of the type; `webhook.test` without one. */
  async test(id: string, body: PostWebhooksIdTestBody = {}, options?: RequestOptions): Promise<TestSent> {
    return await this.#http.json('POST', route`/v1/webhooks/${id}/test`, { ...options, body });
  }

  /** Makes a new secret. With `overlap_seconds`, deliveries are signed by both for this time. */
  async rotateSecret(
    id: string,
    body: PostWebhooksIdRotateSecretBody = {},
    options?: RequestOptions,
  ): Promise<WebhookWithSecret> {
    return await this.#http.json('POST', route`/v1/webhooks/${id}/rotate-secret`, { ...options, body });
  }

  /** Sends the events of a time again that the webhook did not accept. With `dry_run` it only counts them. */
  async recover(id: string, body: PostWebhooksIdRecoverBody, options?: RequestOptions): Promise<Recovered> {
    return await this.#http.json('POST', route`/v1/webhooks/${id}/recover`, { ...options, body });
  }

  /** The delivery log of the webhook. */
  deliveries(id: string, filter?: GetDeliveriesQuery, options?: RequestOptions): Pages<Delivery> {
    return this.#http.pages(route`/v1/webhooks/${id}/deliveries`, filter, options);
  }

  /** One attempt, with what was sent and answered. */
  async delivery(id: string, deliveryId: string, options?: RequestOptions): Promise<DeliveryWithExchange> {
    return await this.#http.json('GET', route`/v1/webhooks/${id}/deliveries/${deliveryId}`, options);
  }

  async redeliver(id: string, deliveryId: string, options?: RequestOptions): Promise<Redelivered> {
    return await this.#http.json('POST', route`/v1/webhooks/${id}/deliveries/${deliveryId}/redeliver`, options);
  }

  /** Sends the events of these deliveries again, at most 100. */
  async redeliverMany(id: string, deliveryIds: string[], options?: RequestOptions): Promise<RedeliveredMany> {
    const body = { delivery_ids: deliveryIds };
    return await this.#http.json('POST', route`/v1/webhooks/${id}/redeliver`, { ...options, body });
  }

  /** Counts of attempts, and how long they took, over time. */
  async metrics(id: string, query: GetWebhooksIdMetricsQuery = {}, options?: RequestOptions): Promise<WebhookMetrics> {
    return await this.#http.json('GET', route`/v1/webhooks/${id}/metrics`, { ...options, query });
  }

  /** Why a received delivery does not verify. `explainSignature` finds the same without the service, where it can. */
  async diagnose(id: string, body: PostWebhooksIdDiagnoseBody, options?: RequestOptions): Promise<SignatureDiagnosis> {
    return await this.#http.json('POST', route`/v1/webhooks/${id}/diagnose`, { ...options, body });
  }
}

/** The delivery log over all webhooks. */
export class Deliveries {
  readonly #http: Transport;

  constructor(http: Transport) {
    this.#http = http;
  }

  list(filter?: GetDeliveriesQuery, options?: RequestOptions): Pages<Delivery> {
    return this.#http.pages('/v1/deliveries', filter, options);
  }
}
