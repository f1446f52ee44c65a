import type { Config } from '../../config/settings.ts';
import type { RateLimit } from '../../config/values.ts';
import type { Sql } from '../../db/database.ts';
import type { LimitState, Limits } from '../../http/authentication.ts';
import type { Bucket } from '../../http/route.ts';
import type { Account } from '../account.ts';
import { admit } from './rate-store.ts';

/** Limit of each bucket; null for none. */
type BucketLimits = Record<Bucket, RateLimit>;

const MAX_REMEMBERED_REFUSALS = 10_000;

/** The limit of each bucket, from the settings. */
export function limitsOfBuckets(config: Config): BucketLimits {
  return {
    transcribe: config.rateLimitTranscribe,
    balance: config.rateLimitBalance,
    jobs: config.rateLimitJobs,
    resend: config.rateLimitResend,
    live: config.rateLimitLive,
    default: config.rateLimitDefault,
  };
}

/**
 * The rate limits of all accounts, exact over all nodes: the database decides. Refusals are cached until their
 * Retry-After has passed; a window cannot open earlier, because refused requests are not counted.
 * @param monotonicMs  a monotonic clock; the process's by default
 */
export function openLimits(db: Sql, limits: BucketLimits, monotonicMs: () => number = () => performance.now()): Limits {
  const refusedUntilMs = new Map<string, number>();

  function recall(key: string): { retryAfterSeconds: number } | null {
    const waitMs = (refusedUntilMs.get(key) ?? 0) - monotonicMs();
    if (waitMs > 0) return { retryAfterSeconds: Math.ceil(waitMs / 1000) };
    refusedUntilMs.delete(key);
    return null;
  }

  function remember(key: string, untilMs: number): void {
    if (refusedUntilMs.size >= MAX_REMEMBERED_REFUSALS) refusedUntilMs.clear();
    refusedUntilMs.set(key, untilMs);
  }

  return {
    async admit(account: Account, bucket: Bucket): Promise<LimitState | null> {
      const limit = limits[bucket];
      if (!limit) return null;
      const key = `${account.id} ${bucket}`;
      const refused = { kind: 'refused', limit: limit.count, windowSeconds: limit.windowMs / 1000 } as const;
      const recalled = recall(key);
      if (recalled) return { ...refused, ...recalled };
      const askedAtMs = monotonicMs();
      const answer = await admit(db, { account, bucket, limit });
      if (answer.kind === 'admitted') return { ...answer, limit: limit.count };
      // Counted from before the query: the cached refusal ends a little early rather than late.
      remember(key, askedAtMs + answer.retryAfterMs);
      return { ...refused, retryAfterSeconds: answer.retryAfterSeconds };
    },
  };
}
