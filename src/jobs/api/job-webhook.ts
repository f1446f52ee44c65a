import { decodeSecret, WebhookVerificationError } from '#sdk/webhooks/verification.ts';
import type { Account } from '../../accounts/account.ts';
import type { Config } from '../../config/settings.ts';
import type { Runtime } from '../../db/runtime.ts';
import type { Lookup } from '../../egress/dns/lookup.ts';
import { Resolver } from '../../egress/dns/resolve.ts';
import { permittedWebhook, resolveUrl } from '../../egress/url-check.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Plan } from '../../rules/accounts/plan.ts';
import { webhookIdOfJob } from '../../rules/ids.ts';
import { MAX_URL_CHARS } from '../../rules/network/url-guard.ts';
import { findWebhookOfJob, type NewJobWebhook } from '../../webhooks/endpoints/job-webhook-store.ts';
import { makeWebhookSecret, type SecretBox } from '../../webhooks/secrets/secrets.ts';
import { refusal, WORD_BYTES } from '../request-fields.ts';
import type { JobKey } from '../store.ts';
import type { ShownWebhook } from '../view.ts';

const URL_FIELD = 'webhook_url';
const SECRET_FIELD = 'webhook_secret';
const UTF8_BYTES_PER_CHAR = 4;
const MAX_SECRET_CHARS = 200;

/** The maximum size of each field in bytes of UTF-8. */
export const JOB_WEBHOOK_FIELD_BYTES = {
  [URL_FIELD]: MAX_URL_CHARS * UTF8_BYTES_PER_CHAR,
  [SECRET_FIELD]: WORD_BYTES,
} as const;

/** The fields `webhook_url` and `webhook_secret` as they were given. */
export type GivenJobWebhook = { url: string; secret: string | null };

/** A job's own webhook, which gets the events of this job. */
export type JobWebhook = {
  /** As the answer to the request shows it. */
  shown: ShownWebhook;
  /** By the account's plan as it is when the job is made. @throws ApiError  403 */
  requirePlan(plan: Plan): void;
  /** The row of a job's webhook. */
  rowFor(jobId: string): NewJobWebhook;
};

/** Null when there is none. The URL is not yet evaluated. @throws ApiError  400 */
export function readJobWebhook(fields: ReadonlyMap<string, string>): GivenJobWebhook | null {
  const url = fields.get(URL_FIELD);
  const secret = fields.get(SECRET_FIELD) ?? null;
  if (secret !== null) requireSecret(secret);
  if (url !== undefined) return { url, secret };
  if (secret === null) return null;
  throw refusal(SECRET_FIELD, `${SECRET_FIELD} needs ${URL_FIELD}.`);
}

/** The form that the clients' verification accepts. */
function requireSecret(secret: string): void {
  try {
    decodeSecret(secret);
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    throw refusal(SECRET_FIELD, `${SECRET_FIELD} must be whsec_ and the base64 of 24 to 64 random bytes.`);
  }
  if (secret.length > MAX_SECRET_CHARS) {
    throw refusal(SECRET_FIELD, `${SECRET_FIELD} may have at most ${MAX_SECRET_CHARS} characters.`);
  }
}

type WebhookRuntime = Runtime & { secretBox: Pick<SecretBox, 'seal' | 'open'>; lookup?: Lookup };

/** Evaluates the webhooks of jobs, by the rules for webhooks, when a request asks for them. */
export class JobWebhooks {
  readonly #runtime: WebhookRuntime;
  readonly #resolver: Resolver;

  constructor(runtime: WebhookRuntime) {
    this.#runtime = runtime;
    this.#resolver = new Resolver(runtime.lookup);
  }

  /** @throws ApiError  400 forbidden_url; 400 while JOB_WEBHOOKS is off; 403 where the account's plan may not */
  async permit({ url, secret }: GivenJobWebhook, account: Account): Promise<JobWebhook> {
    const { config, clock, secretBox } = this.#runtime;
    requirePlan(config, account.plan);
    const allowedTargets = config.webhookAllowedTargets;
    const target = permittedWebhook(url, URL_FIELD, config);
    const guard = { allowedTargets, resolver: this.#resolver, clock };
    const href = await resolveUrl(target, { param: URL_FIELD, accountId: account.id, ...guard });
    const used = secret ?? makeWebhookSecret();
    return {
      shown: shownAs(href, secret === null ? used : null),
      requirePlan: (plan) => requirePlan(config, plan),
      rowFor(jobId) {
        const id = webhookIdOfJob(jobId);
        return { id, url: href, secret: secretBox.seal(id, used) };
      },
    };
  }

  /** The webhook of the job of an earlier request, whose answer was lost; empty when it was deleted since. */
  async shownOf({ secret }: GivenJobWebhook, { shard, id: jobId }: JobKey): Promise<ShownWebhook> {
    const row = await findWebhookOfJob(this.#runtime.db, { shard, jobId });
    if (row === null) return {};
    return shownAs(row.url, secret === null ? this.#runtime.secretBox.open(webhookIdOfJob(jobId), row.secret) : null);
  }
}

/** @param madeSecret  null where the client gave one */
function shownAs(url: string, madeSecret: string | null): ShownWebhook {
  return { webhook_url: url, ...(madeSecret !== null && { webhook_secret: madeSecret }) };
}

function requirePlan({ jobWebhooks }: Config, plan: Plan): void {
  if (jobWebhooks === 'off') {
    const message = `${URL_FIELD} is switched off on this server. Register a webhook with POST /v1/webhooks.`;
    throw new ApiError('invalid_request', message, { param: URL_FIELD });
  }
  if (jobWebhooks === 'all' || plan === jobWebhooks) return;
  const message = `Jobs of the ${plan} plan may have no ${URL_FIELD}. Register a webhook with POST /v1/webhooks.`;
  throw new ApiError('plan_limit', message, { param: URL_FIELD });
}
