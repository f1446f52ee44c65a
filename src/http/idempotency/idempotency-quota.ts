import type { Sql } from '../../db/database.ts';
import { countKeys, type KeyName } from './idempotency-store.ts';

/** Limits the stored Idempotency-Keys of an account. */
type KeyQuota = { isFull(sql: Sql, name: KeyName): Promise<boolean> };

// Between two counts every request counts as one new key: an account can exceed the limit by what other processes
// accept in this time, not by more.
const RECOUNT_MS = 60_000;
const MAX_CACHED_ACCOUNTS = 10_000;

/**
 * At most `maxKeys` keys per account, counted once a minute and process: counting 100,000 rows takes 10 ms.
 * @param monotonicMs  a monotonic clock; the process's by default
 */
export function openKeyQuota(maxKeys: number, monotonicMs: () => number = () => performance.now()): KeyQuota {
  const counts = new Map<string, { keys: number; countedAtMs: number }>();
  return {
    async isFull(sql, name) {
      const nowMs = monotonicMs();
      let known = counts.get(name.accountId);
      if (!known || nowMs - known.countedAtMs > RECOUNT_MS) {
        known = { keys: await countKeys(sql, name, maxKeys), countedAtMs: nowMs };
        if (counts.size >= MAX_CACHED_ACCOUNTS) counts.clear();
        counts.set(name.accountId, known);
      }
      known.keys += 1;
      return known.keys > maxKeys;
    },
  };
}
