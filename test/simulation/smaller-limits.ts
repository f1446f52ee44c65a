import { randomBytes } from 'node:crypto';
import { newId } from '../../src/rules/ids.ts';
import { type Change, changesOf } from './planted-bug.ts';

/** Attempts of one webhook in flight at once, on all processes together. */
export const MAX_IN_FLIGHT_PER_WEBHOOK = 2;
/** Shards of all accounts. */
export const SHARDS = 4;

/** Limits that the simulation makes smaller, so that a few accounts and deliveries reach them. */
export const SMALLER_LIMITS: Change[] = [
  changesOf<typeof import('../../src/platform/clock.ts')>('src/platform/clock.ts')({
    // Random bytes that are left of one seed would be used by the next.
    makeId:
      (_, { systemClock }) =>
      (prefix, clock = systemClock) =>
        newId(prefix, clock.now(), randomBytes(10)),
  }),
  changesOf<typeof import('../../src/rules/shard.ts')>('src/rules/shard.ts')({
    SHARD_COUNT: () => SHARDS as never,
    shardOf: (original) => (accountId) => original(accountId) % SHARDS,
  }),
  changesOf<typeof import('../../src/jobs/live/live-store.ts')>('src/jobs/live/live-store.ts')({
    // A session that goes on reads several pages.
    readChunks:
      (original) =>
      async (...read) =>
        (await original(...read)).slice(0, 2),
  }),
  changesOf<typeof import('../../src/webhooks/scheduler/limits.ts')>('src/webhooks/scheduler/limits.ts')({
    LIMITS: (limits) => ({ ...limits, inFlightPerWebhook: MAX_IN_FLIGHT_PER_WEBHOOK, perWebhook: 3, total: 24 }),
    READ_LIMITS: (limits) => ({ ...limits, rows: 6 }),
  }),
];
