import type { Metrics } from '../../platform/metrics.ts';
import type { DatabaseClock } from '../ownership/database-clock.ts';
import type { Drops, OwnerRuntime } from './drops.ts';
import type { WebhookCache } from './webhook-cache.ts';

/** What the parts of a deliverer share. */
export type DelivererParts = OwnerRuntime & {
  metrics?: Pick<Metrics, 'deliveriesFoundLate'> | undefined;
  monotonicMs: () => number;
  databaseClock: DatabaseClock;
  webhooks: WebhookCache;
  drops: Drops;
  /** Something was notified or read, or more may start: causes a turn. */
  wake(): void;
};
