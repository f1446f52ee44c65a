import type { Sql } from '../../src/db/database.ts';
import { BOUNDS } from '../../src/rules/bounds.ts';
import type { FinishedAttempt } from '../../src/webhooks/deliveries/recording/finished-attempt.ts';
import type { Heartbeat, OwnedShard } from '../../src/webhooks/ownership/ownership-store.ts';
import { changeMethod, changesOf, type PlantedBug } from './planted-bug.ts';

const streakStore = changesOf<typeof import('../../src/webhooks/deliveries/recording/streak-store.ts')>(
  'src/webhooks/deliveries/recording/streak-store.ts',
);
const followAttempts = changesOf<typeof import('../../src/webhooks/deliveries/recording/follow-attempts.ts')>(
  'src/webhooks/deliveries/recording/follow-attempts.ts',
);
const successStore = changesOf<typeof import('../../src/webhooks/deliveries/recording/success-store.ts')>(
  'src/webhooks/deliveries/recording/success-store.ts',
);
const autoDisable = changesOf<typeof import('../../src/rules/webhooks/auto-disable.ts')>(
  'src/rules/webhooks/auto-disable.ts',
);
const ownership = changesOf<typeof import('../../src/webhooks/ownership/ownership.ts')>(
  'src/webhooks/ownership/ownership.ts',
);
const ownershipStore = changesOf<typeof import('../../src/webhooks/ownership/ownership-store.ts')>(
  'src/webhooks/ownership/ownership-store.ts',
);
const refills = changesOf<typeof import('../../src/webhooks/scheduler/refills.ts')>(
  'src/webhooks/scheduler/refills.ts',
);

export const DELIVERY_BUGS: PlantedBug[] = [
  {
    name: 'a limit per second counts half a second',
    changes: [
      changesOf<typeof import('../../src/webhooks/scheduler/start-rates.ts')>('src/webhooks/scheduler/start-rates.ts')({
        StartRates: (original) =>
          changeMethod(
            original,
            'freeAtMs',
            (freeAtMs) =>
              function (webhook) {
                return freeAtMs.call(this, webhook) - 500;
              },
          ),
      }),
    ],
  },
  {
    name: 'own headers are not sent',
    changes: [
      changesOf<typeof import('../../src/rules/webhooks/own-headers.ts')>('src/rules/webhooks/own-headers.ts')({
        withoutServiceHeaders: () => () => ({}),
      }),
    ],
  },
  {
    name: 'a failed attempt counts twice',
    changes: [
      autoDisable({
        streakAfter: (original) => (before, outcomes, bounds) =>
          original(
            before,
            outcomes.flatMap((succeeded) => (succeeded ? [true] : [false, false])),
            bounds,
          ),
      }),
    ],
  },
  {
    name: 'attempts are not limited',
    changes: [
      changesOf<typeof import('../../src/rules/webhooks/retry-schedule.ts')>('src/rules/webhooks/retry-schedule.ts')({
        delayBeforeAttemptMs: (original) => (next) => original(next) ?? 1_000,
      }),
    ],
  },
  {
    name: 'an attempt is recorded though its shard was lost',
    changes: [
      successStore({
        finishSuccesses: (original) => async (sql, attempts) => original(sql, await withCurrentEpochs(sql, attempts)),
      }),
      followAttempts({
        recordWithStreaks: (original) => async (db, batch) =>
          original(db, {
            ...batch,
            attempts: await db.transaction((tx) => withCurrentEpochs(tx, batch.attempts)),
          }),
      }),
    ],
  },
  {
    name: 'the epoch of a shard stays when the shard changes hands',
    changes: [
      ownershipStore({
        takeShards: (original) => async (sql, take) => {
          const taken = await original(sql, take);
          const shards = taken.map(({ shard }) => shard);
          await sql.run({ text: 'update delivery_shards set epoch = 1 where shard = any($1)', values: [shards] });
          return shards.map((shard): OwnedShard => ({ shard, epoch: 1 }));
        },
      }),
    ],
    test: 'src/webhooks/ownership/ownership.test.ts',
  },
  {
    name: 'a lease is trusted from the answer to the heartbeat on',
    changes: [
      ownership({
        Ownership: (original) =>
          class extends original {
            readonly #isTrusted: () => boolean;

            constructor(runtime: ConstructorParameters<typeof original>[0]) {
              let answeredMs = Number.NEGATIVE_INFINITY;
              const onTime = (nowMs: number) => {
                answeredMs = runtime.monotonicMs();
                runtime.onTime(nowMs);
              };
              super({ ...runtime, onTime });
              this.#isTrusted = () => runtime.monotonicMs() < answeredMs + BOUNDS.shardTrustMs;
            }

            override isTrusted(): boolean {
              return this.#isTrusted();
            }
          },
      }),
    ],
    test: 'src/webhooks/ownership/ownership.test.ts',
  },
  {
    name: 'attempts start whether or not the lease is trusted',
    changes: [ownership({ Ownership: (original) => changeMethod(original, 'isTrusted', () => () => true) })],
  },
  {
    name: 'a deliverer whose lease has ended goes on',
    changes: [
      ownershipStore({
        renewLease: (original) => {
          const last = new Map<string, Heartbeat>();
          return async (sql, lease) => {
            const heartbeat = (await original(sql, lease)) ?? last.get(lease.id) ?? null;
            if (heartbeat) last.set(lease.id, heartbeat);
            return heartbeat;
          };
        },
      }),
    ],
    test: 'src/webhooks/ownership/ownership.test.ts',
  },
  {
    name: 'a shard is released while attempts of it are in flight',
    changes: [
      ownership({
        Ownership: (original) =>
          class extends original {
            constructor(runtime: ConstructorParameters<typeof original>[0]) {
              super({ ...runtime, unrecorded: () => 0 });
            }
          },
      }),
    ],
  },
  {
    name: 'deliverers whose lease has not ended are ended',
    changes: [
      ownershipStore({
        renewLease: (original) => async (sql, lease) => {
          const heartbeat = await original(sql, lease);
          return heartbeat && { ...heartbeat, hasExpired: true };
        },
        endExpiredDeliverers: (original) => async (db) => {
          await db.run({ text: 'update deliverers set ends_at = clock_timestamp()' });
          return await original(db);
        },
      }),
    ],
    test: 'src/webhooks/ownership/ownership.test.ts',
  },
  {
    name: 'shards of running processes are set free with those of ended processes',
    changes: [ownershipStore({ endDeliverers: (original) => (db) => original(db, '') })],
  },
  {
    name: 'a webhook is read to its end in spite of rows that were forgotten',
    changes: [
      refills({
        Refills: (original) =>
          changeMethod(
            original,
            'end',
            (end) =>
              function (read, rows) {
                const refill = this.webhookOf(read)?.spill?.refill;
                if (refill && rows) refill.forgottenMs = Number.POSITIVE_INFINITY;
                end.call(this, read, rows);
              },
          ),
      }),
    ],
    test: 'src/webhooks/scheduler/model.test.ts',
  },
  {
    name: 'a webhook is read to its end in spite of rows that an answer left out',
    changes: [
      refills({
        Refills: (original) =>
          changeMethod(
            original,
            'end',
            (end) =>
              function (read, rows) {
                end.call(this, read, rows && { ...rows, count: 0 });
              },
          ),
      }),
    ],
  },
  {
    name: 'deliveries that are committed late are never looked for',
    changes: [
      changesOf<typeof import('../../src/webhooks/scheduler/scheduler.ts')>('src/webhooks/scheduler/scheduler.ts')({
        Scheduler: (original) => changeMethod(original, 'found', () => () => false),
      }),
    ],
    test: 'src/webhooks/deliveries/worker.test.ts',
  },
  {
    name: 'a delivery that has ended is taken from an answer that is too old',
    changes: [
      changesOf<typeof import('../../src/webhooks/scheduler/read-log.ts')>('src/webhooks/scheduler/read-log.ts')({
        ReadLog: (original) => changeMethod(original, 'isTooOld', () => () => false),
      }),
    ],
    test: 'src/webhooks/scheduler/model.test.ts',
  },
  {
    name: 'attempts of one webhook are not limited',
    changes: [
      changesOf<typeof import('../../src/webhooks/scheduler/limits.ts')>('src/webhooks/scheduler/limits.ts')({
        LIMITS: (limits) => ({ ...limits, inFlightPerWebhook: 1_000 }),
      }),
    ],
  },
  {
    name: 'a record is not repeated when the connection broke',
    changes: [
      successStore({
        finishSuccesses: (original) => (sql, attempts) =>
          original(sql, attempts).catch(() => attempts.map(({ deliveryId }) => deliveryId)),
      }),
      followAttempts({
        recordWithStreaks: (original) => (db, batch) =>
          original(db, batch).catch(() => ({
            followed: new Map(
              batch.attempts.map(({ deliveryId }) => [deliveryId, { follows: 'end', retryAfterMs: null, next: null }]),
            ),
            streaks: [],
          })),
      }),
    ],
  },
  {
    name: 'the attempt number does not grow',
    changes: [
      streakStore({
        scheduleRetries: (original) => async (tx, shard, retries) => {
          await original(tx, shard, retries);
          const ids = retries.map(({ nextAttemptId }) => nextAttemptId);
          const text = 'update deliveries set attempt = attempt - 1 where shard = $1 and attempt_id = any($2::text[])';
          await tx.run({ text, values: [shard, ids] });
        },
      }),
    ],
  },
  {
    name: 'a retry keeps the id of the attempt',
    changes: [
      streakStore({
        scheduleRetries: (original) => (tx, shard, retries) =>
          original(
            tx,
            shard,
            retries.map((retry) => ({ ...retry, nextAttemptId: retry.attemptId })),
          ),
      }),
    ],
    test: 'src/webhooks/deliveries/recording/follow-attempts.test.ts',
  },
  {
    name: 'a retry does not wait',
    changes: [
      followAttempts({
        recordWithStreaks: (original) => (db, batch) =>
          original(db, { ...batch, delaysMs: batch.delaysMs.map(() => 0) }),
      }),
    ],
  },
  {
    name: 'a webhook is disabled after failures over a short time',
    changes: [
      autoDisable({
        streakAfter: (original) => (before, outcomes, bounds) =>
          original(before, outcomes, { ...bounds, disableMs: 0 }),
      }),
    ],
  },
  {
    name: 'waiting deliveries of a disabled webhook stay in the queue',
    changes: [
      changesOf<typeof import('../../src/webhooks/deliveries/drops.ts')>('src/webhooks/deliveries/drops.ts')({
        Drops: (original) => changeMethod(original, 'dropIfInactive', () => () => undefined),
      }),
    ],
  },
  {
    name: 'an event goes to the webhooks of every account in its shard',
    changes: [
      changesOf<typeof import('../../src/jobs/end/end-store.ts')>('src/jobs/end/end-store.ts')({
        writeEnd: (original) => async (sql, end, config) => {
          const isWritten = await original(sql, end, config);
          const { shard, id, accountId, type, createdAt } = end.event;
          const text = `insert into deliveries
              (shard, id, account_id, webhook_id, event_id, event_type, attempt_id, next_at, created_at)
            select shard, 'dl_' || left(md5(id || $2), 26), $3, id, $2, $4, 'dlv_' || left(md5(id || $2), 26), $5, $5
            from webhooks
            where shard = $1 and account_id <> $3 and active`;
          if (isWritten) await sql.run({ text, values: [shard, id, accountId, type, createdAt] });
          return isWritten;
        },
      }),
    ],
  },
];

async function withCurrentEpochs(sql: Sql, attempts: FinishedAttempt[]): Promise<FinishedAttempt[]> {
  const rows = await sql.rows<OwnedShard>({ text: 'select shard, epoch from delivery_shards' });
  return attempts.map((attempt) => ({
    ...attempt,
    epoch: Number(rows.find(({ shard }) => shard === attempt.shard)!.epoch),
  }));
}
