import type { IncludedPart } from '../../rules/webhooks/included-body.ts';

/**
 * What becomes of a webhook's waiting deliveries. `active`: they are sent. `suspended`: they wait, as its account is
 * suspended. `inactive`: they are dropped, as it is disabled or deleted.
 */
export type WebhookState = 'active' | 'suspended' | 'inactive';

/** What the sender of deliveries needs to know of a webhook. */
export type WebhookSettings = {
  id: string;
  shard: number;
  state: WebhookState;
  /** It has succeeded, and not failed since. */
  isHealthy: boolean;
  /** How many requests may be sent in a second; null: no limit. */
  maxPerSecond: number | null;
  url: string;
  secret: Buffer;
  previousSecret: Buffer | null;
  previousSecretEndsAt: Date | null;
  /** The headers that its owner has set, as JSON, sealed; null without any. */
  headers: Buffer | null;
  include: IncludedPart[];
};

/** The part that decides whether and in which order its deliveries start. */
export type StartSettings = Pick<WebhookSettings, 'id' | 'shard' | 'state' | 'isHealthy' | 'maxPerSecond'>;
