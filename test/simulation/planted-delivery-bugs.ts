import type { PlantedBug } from './planted-bug.ts';

const STREAKS = 'src/webhooks/deliveries/recording/streaks.ts';
const STREAK_STORE = 'src/webhooks/deliveries/recording/streak-store.ts';
const AUTO_DISABLE = 'src/rules/webhooks/auto-disable.ts';
const READER = 'src/webhooks/deliveries/reader.ts';
const OWNERSHIP = 'src/webhooks/ownership/ownership.ts';
const OWNERSHIP_STORE = 'src/webhooks/ownership/ownership-store.ts';
const REFILLS = 'src/webhooks/scheduler/refills.ts';

export const DELIVERY_BUGS: PlantedBug[] = [
  {
    name: 'a limit per second counts half a second',
    changes: [{ file: 'src/webhooks/scheduler/start-rates.ts', find: 'SPAN_MS = 1_000', replace: 'SPAN_MS = 500' }],
  },
  {
    name: 'own headers are not sent',
    changes: [
      {
        file: 'src/webhooks/deliveries/send.ts',
        find: 'const headers = { ...signed, ...own };',
        replace: 'const headers = signed;',
      },
    ],
  },
  {
    name: 'a failed attempt counts twice',
    changes: [{ file: AUTO_DISABLE, find: ': consecutiveFailures + 1;', replace: ': consecutiveFailures + 2;' }],
  },
  {
    name: 'attempts are not limited',
    changes: [
      {
        file: 'src/rules/webhooks/retry-schedule.ts',
        find: 'if (delayMs === undefined) return null;',
        replace: 'if (delayMs === undefined) return 1_000;',
      },
    ],
  },
  { name: 'an attempt is recorded though its shard was lost', changes: withoutEpoch() },
  {
    name: 'the epoch of a shard stays when the shard changes hands',
    changes: [
      { file: OWNERSHIP_STORE, find: 'epoch = epoch + 1', replace: 'epoch = epoch + 0' },
      { file: OWNERSHIP_STORE, find: 'epoch = s.epoch + 1', replace: 'epoch = s.epoch + 0' },
    ],
    test: 'src/webhooks/ownership/ownership.test.ts',
  },
  {
    name: 'a lease is trusted from the answer to the heartbeat on',
    changes: [
      {
        file: OWNERSHIP,
        find: 'this.#trustedUntil = trustedUntil;',
        replace:
          'this.#trustedUntil = { monotonicMs: monotonicMs() + BOUNDS.shardTrustMs, wallMs: clock.now() + BOUNDS.shardTrustMs };',
      },
    ],
    test: 'src/webhooks/ownership/ownership.test.ts',
  },
  {
    name: 'attempts start whether or not the lease is trusted',
    changes: [
      {
        file: OWNERSHIP,
        find: 'return monotonicMs() < this.#trustedUntil',
        replace: 'return true || this.#trustedUntil',
      },
    ],
  },
  {
    name: 'a deliverer whose lease has ended goes on',
    changes: [
      { file: OWNERSHIP, find: 'if (!heartbeat) {', replace: 'if (!heartbeat) return true;\n    if (!heartbeat) {' },
    ],
    test: 'src/webhooks/ownership/ownership.test.ts',
  },
  {
    name: 'a shard is released while attempts of it are in flight',
    changes: [{ file: OWNERSHIP, find: 'filter((shard) => unrecorded(shard) === 0)', replace: 'filter(() => true)' }],
  },
  {
    name: 'deliverers whose lease has not ended are ended',
    changes: [
      {
        file: OWNERSHIP_STORE,
        find: 'ends_at <= clock_timestamp()',
        replace: 'ends_at <= clock_timestamp() + make_interval(secs => 20)',
      },
    ],
    test: 'src/webhooks/ownership/ownership.test.ts',
  },
  {
    name: 'shards of running processes are set free with those of ended processes',
    changes: [{ file: OWNERSHIP_STORE, find: 'where starts_with(id, $1)', replace: 'where $1::text is not null' }],
  },
  {
    name: 'a webhook is read to its end in spite of rows that were forgotten',
    changes: [{ file: REFILLS, find: 'rows.lastMs, forgottenMs);', replace: 'rows.lastMs);' }],
    test: 'src/webhooks/scheduler/model.test.ts',
  },
  {
    name: 'a webhook is read to its end in spite of rows that an answer left out',
    changes: [{ file: REFILLS, find: 'rows.count < limit ? endMs : rows.lastMs', replace: 'endMs' }],
  },
  {
    name: 'deliveries that are committed late are never looked for',
    changes: [
      { file: READER, find: 'nowMs - BOUNDS.lateCommitMs', replace: 'nowMs' },
      { file: READER, find: 'SEARCH_MS = 60_000', replace: 'SEARCH_MS = 60_000_000' },
    ],
    test: 'src/webhooks/deliveries/worker.test.ts',
  },
  {
    name: 'a delivery that has ended is taken from an answer that is too old',
    changes: [
      {
        file: 'src/webhooks/scheduler/read-log.ts',
        find: 'return this.#tombstones.size > 0 &&',
        replace: 'return this.#tombstones.size < 0 &&',
      },
    ],
    test: 'src/webhooks/scheduler/model.test.ts',
  },
  {
    name: 'attempts of one webhook are not limited',
    changes: [
      {
        file: 'src/webhooks/scheduler/start-order.ts',
        find: 'webhook.inFlight < this.#limits.inFlightPerWebhook &&',
        replace: '',
      },
    ],
  },
  {
    name: 'a record is not repeated when the connection broke',
    changes: [
      {
        file: 'src/webhooks/deliveries/recording/recorder.ts',
        find: 'if (!isDatabaseAway(error) || this.#isGivenUp()) return null;',
        replace: 'if (error) return null;',
      },
    ],
  },
  {
    name: 'the attempt number does not grow',
    changes: [{ file: STREAK_STORE, find: 'set attempt = attempt + 1,', replace: 'set attempt = attempt + 0,' }],
  },
  {
    name: 'a retry keeps the id of the attempt',
    changes: [
      {
        file: STREAK_STORE,
        find: 'nextAttemptIds: plainArray(retries.map(({ nextAttemptId }) => nextAttemptId)),',
        replace: 'nextAttemptIds: plainArray(retries.map(({ attemptId }) => attemptId)),',
      },
    ],
    test: 'src/webhooks/deliveries/recording/streaks.test.ts',
  },
  {
    name: 'a retry does not wait',
    changes: [{ file: STREAKS, find: 'nextAtMs: nowMs + retryAfterMs!', replace: 'nextAtMs: nowMs' }],
  },
  {
    name: 'a webhook is disabled after failures over a short time',
    changes: [
      {
        file: STREAKS,
        find: 'streakAfter(webhook, outcomes, bounds)',
        replace: 'streakAfter(webhook, outcomes, { ...bounds, disableMs: 0 })',
      },
    ],
  },
  {
    name: 'waiting deliveries of a disabled webhook stay in the queue',
    changes: [
      {
        file: 'src/webhooks/deliveries/drops.ts',
        find: "if (webhook?.state !== 'inactive' ||",
        replace: "if (webhook?.state !== 'none' ||",
      },
    ],
  },
  {
    name: 'an event goes to the webhooks of every account in its shard',
    changes: [
      {
        file: 'src/webhooks/events/store.ts',
        find: 'where shard = $shard and account_id = $accountId and',
        replace: 'where $shard::int is not null and $accountId::text is not null and',
      },
    ],
  },
];

function withoutEpoch(): PlantedBug['changes'] {
  return [
    {
      file: 'src/webhooks/deliveries/recording/success-store.ts',
      find: '(b.shard::bigint << 48) + b.epoch = any(array(select (shard::bigint << 48) + epoch from fence))',
      replace: 'b.epoch is not null',
    },
    { file: STREAKS, find: 'filter(({ epoch }) => epoch === owner?.epoch)', replace: 'filter(() => owner)' },
  ];
}
