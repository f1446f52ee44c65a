import type { Config } from '../../config/settings.ts';
import type { RateLimit } from '../../config/values.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { Static } from '../../http/schema.ts';
import { WEBHOOK_LIMIT } from '../../rules/accounts/plan.ts';
import { permits, SCOPES } from '../../rules/accounts/scopes.ts';
import type { Caller } from '../account.ts';
import { limitsOfBuckets } from '../rate-limits/limits.ts';
import { ownAccountSchema } from './view.ts';

/** GET /v1/account. */
export function ownAccountRoute(config: Config): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/account',
    auth: 'key',
    scope: 'any',
    summary: 'The account of this key, its limits, and the scopes of the key',
    tag: 'Account',
    schema: { answers: { 200: ownAccountSchema } },
    handle: async ({ account, actor }) => ({ status: 200, body: showOwnAccount(config, { account, key: actor.key! }) }),
  });
}

function showOwnAccount(
  config: Config,
  { account, key }: Pick<Caller, 'account' | 'key'>,
): Static<typeof ownAccountSchema> {
  const { transcribe, balance, jobs, resend, default: others } = limitsOfBuckets(config);
  return {
    id: account.id,
    name: account.name,
    plan: account.plan,
    limits: {
      webhooks: WEBHOOK_LIMIT[account.plan],
      rates: {
        transcribe: showRate(transcribe),
        balance: showRate(balance),
        jobs: showRate(jobs),
        resend: showRate(resend),
        default: showRate(others),
      },
      upload_bytes: config.maxUploadBytes,
      audio_seconds: config.maxAudioSeconds,
      delivery_log_days: account.plan === 'pro' ? config.retentionDaysPro : config.retentionDaysLite,
      job_days: config.jobRetentionDays,
    },
    deliveries: {
      timeout_ms: config.webhookTimeoutMs,
      retry_delays_seconds: config.webhookRetryDelaysMs.map((ms) => ms / 1000),
      disable_failures: config.webhookDisableFailures,
      disable_seconds: config.webhookDisableMs / 1000,
    },
    webhook_header_prefix: config.webhookHeaderPrefix,
    scopes: SCOPES.filter((scope) => permits(key.scopes, scope)),
  };
}

function showRate(limit: RateLimit): { requests: number; seconds: number } | null {
  return limit && { requests: limit.count, seconds: limit.windowMs / 1000 };
}
