import type { PlantedBug } from './planted-bug.ts';

/** Limits that the simulation makes smaller, so that a few accounts and deliveries reach them. */
export const SMALLER_LIMITS: PlantedBug['changes'] = [
  // Random bytes that are left of one seed would be used by the next.
  { file: 'src/platform/clock.ts', find: 'Buffer.alloc(128 * RANDOM_BYTES)', replace: 'Buffer.alloc(RANDOM_BYTES)' },
  { file: 'src/rules/shard.ts', find: 'SHARD_COUNT = 64', replace: 'SHARD_COUNT = 4' },
  { file: 'src/webhooks/scheduler/limits.ts', find: 'inFlightPerWebhook: 16', replace: 'inFlightPerWebhook: 2' },
  { file: 'src/webhooks/scheduler/limits.ts', find: 'perWebhook: 128', replace: 'perWebhook: 3' },
  { file: 'src/webhooks/scheduler/limits.ts', find: 'total: 20_000', replace: 'total: 24' },
  { file: 'src/webhooks/deliveries/reader.ts', find: 'MAX_ROWS = 1_000', replace: 'MAX_ROWS = 6' },
];

/** Attempts of one webhook in flight at once, on all processes together. */
export const MAX_IN_FLIGHT_PER_WEBHOOK = 2;
/** Shards of all accounts. */
export const SHARDS = 4;
