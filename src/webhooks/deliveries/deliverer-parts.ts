import type { Metrics } from '../../platform/metrics.ts';
import type { DatabaseClock } from '../ownership/database-clock.ts';
import type { Drops, OwnerRuntime } from './drops.ts';
import type { WebhookCache } from './webhook-cache.ts';

export type DelivererMetrics = Pick<Metrics, 'deliveriesFoundLate' | 'attemptsWithoutNameServers'>;

/** What the parts of a deliverer share. */
export type DelivererParts = OwnerRuntime & {
  metrics?: DelivererMetrics | undefined;
  monotonicMs: () => number;
  databaseClock: DatabaseClock;
  webhooks: WebhookCache;
  drops: Drops;
  /** Something was notified or read, or more may start: causes a turn. */
  wake(): void;
};
