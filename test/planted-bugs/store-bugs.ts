/** A bug in a store or a worker, as a change of its source, and the test of its folder that finds it. */
export type StoreBug = {
  /** What would go wrong. */
  name: string;
  file: string;
  /** A text that the file has exactly once, and what is in its place. */
  original: string;
  changed: string;
  test: string;
  /** The beginning of the test's title, without special characters of regular expressions. */
  title: string;
};

const JOB_BUGS: StoreBug[] = [
  {
    name: 'jobs are returned after the renewals that waited with the statement',
    file: 'src/jobs/queue/lease-store.ts',
    original: `and clock_timestamp() <= $3::timestamptz + $4 * interval '1 millisecond'`,
    changed: `and ($3::timestamptz + $4 * interval '1 millisecond') is not null`,
    test: 'src/jobs/queue/lease-store.test.ts',
    title: 'jobs are not returned when the statement runs later',
  },
  {
    name: 'a lease that another process has got counts as held',
    file: 'src/jobs/queue/lease-store.ts',
    original: `\n      join jobs on jobs.id = claims.id and jobs.lease = claims.lease\n`,
    changed: `\n      join jobs on jobs.id = claims.id\n`,
    test: 'src/jobs/queue/lease-store.test.ts',
    title: 'a renewal under a lease that another process has got',
  },
  {
    name: 'the progress of a job goes back',
    file: 'src/jobs/queue/piece-store.ts',
    original: 'set progress = greatest(progress, $6)',
    changed: 'set progress = $6',
    test: 'src/jobs/queue/claim.test.ts',
    title: 'the progress of a job does not go back',
  },
  {
    name: 'a job that starts again is subtracted from the waiting jobs a second time',
    file: 'src/jobs/queue/queue-store.ts',
    original: 'count(*) filter (where lease = 1) as jobs',
    changed: 'count(*) as jobs',
    test: 'src/jobs/queue/queue-count.test.ts',
    title: 'the count follows each change of a waiting job',
  },
  {
    name: 'a job ends under a lease that another worker has got',
    file: 'src/jobs/end/end-store.ts',
    original: 'lease = $lease and (select is_in_time',
    changed: 'lease >= $lease and (select is_in_time',
    test: 'src/jobs/end/end.test.ts',
    title: 'a job that another worker has claimed does not end',
  },
  {
    name: 'text that is being stored when the job fails is not charged',
    file: 'src/jobs/execution/execute.ts',
    original: `if (outcome.kind === 'failed') await this.#partialResults.close();`,
    changed: '',
    test: 'src/jobs/execution/paid-pieces.test.ts',
    title: 'pieces whose write is under way when the job fails',
  },
  {
    name: 'a holder goes on when its own process claims the job again',
    file: 'src/jobs/work/lease-keeper.ts',
    original: 'this.#lose(id, this.#held.get(id));',
    changed: '',
    test: 'src/jobs/work/lease-keeper.test.ts',
    title: 'a holder learns that its lease is lost',
  },
  {
    name: 'two links to a transcript are made at the same time, one more than there may be',
    file: 'src/jobs/sharing/share-store.ts',
    original: `and account_id = $3 for update`,
    changed: `and account_id = $3`,
    test: 'src/jobs/sharing/sharing.test.ts',
    title: 'only a completed job is shared, and it has at most 20 links',
  },
];

const LIVE_BUGS: StoreBug[] = [
  {
    name: 'a session is written without a fence',
    file: 'src/jobs/live/live-store.ts',
    original: ' and session.lease = given.lease',
    changed: '',
    test: 'src/live/session/journal.test.ts',
    title: 'a session that was taken over is told so, and nothing of it is written',
  },
  {
    name: 'a session that cannot be written fails all sessions of its shard',
    file: 'src/live/session/journal.ts',
    original:
      'if (batches.length > 1) for (const batch of batches) await this.#write([batch]);\n      else batches[0]!',
    changed: 'for (const batch of batches) batch',
    test: 'src/live/session/journal.test.ts',
    title: 'a session that cannot be written does not fail the others',
  },
  {
    name: 'a session is taken over under the lease that it has',
    file: 'src/jobs/live/live-store.ts',
    original: 'where shard = $1 and job_id = $2 and lease < $3',
    changed: 'where shard = $1 and job_id = $2 and lease <= $3',
    test: 'src/live/session/journal.test.ts',
    title: 'a session is taken over under a higher lease only',
  },
  {
    name: 'a client that waits for the engine is idle',
    file: 'src/live/session/running-session.ts',
    original: 'if (this.#isFull()) this.#activeAtMs = this.#audioAtMs = nowMs;',
    changed: '',
    test: 'src/live/live-connection.test.ts',
    title: 'a client that waits for the engine is not idle',
  },
  {
    name: 'sessions of revoked keys go on',
    file: 'src/live/live-host.ts',
    original: 'if (!usable.has(key)) key.user.keyEnded();',
    changed: 'if (usable.size < 0) key.user.keyEnded();',
    test: 'src/live/live-host.test.ts',
    title: 'a session ends within two seconds of the key',
  },
  {
    name: 'a session that goes on takes a place that another one has',
    file: 'src/live/live-engines.ts',
    original: 'if (!isOpen || takenOf(opened.places) >= places) return false;',
    changed: 'if (!isOpen) return false;',
    test: 'src/live/live-engines.test.ts',
    title: 'a place that rests is free for others',
  },
];

const DELIVERY_BUGS: StoreBug[] = [
  {
    name: 'a lost owner of a shard records its successes',
    file: 'src/webhooks/deliveries/recording/success-store.ts',
    original: '(b.shard::bigint << 48) + b.epoch = any(array(select (shard::bigint << 48) + epoch from fence))',
    changed: 'b.shard = any(array(select shard from fence))',
    test: 'src/webhooks/deliveries/recording/success-store.test.ts',
    title: 'a success is not recorded when the shard was lost',
  },
  {
    name: 'no webhook becomes healthy',
    file: 'src/webhooks/deliveries/recording/streak-store.ts',
    original: ' or consecutive_failures > 0 or not has_succeeded)',
    changed: ' or consecutive_failures > 0)',
    test: 'src/webhooks/deliveries/recording/success-store.test.ts',
    title: 'the first success of a webhook',
  },
  {
    name: 'attempts start while nothing can be recorded',
    file: 'src/webhooks/deliveries/recording/recorder.ts',
    original: 'this.#isAway = isDatabaseAway(error) && !isStatementTimeout(error);\n      if',
    changed: 'if',
    test: 'src/webhooks/deliveries/recording/recorder.test.ts',
    title: 'while the connection is lost',
  },
  {
    name: 'a shard without records goes on sending',
    file: 'src/webhooks/deliveries/recording/recorder.ts',
    original: 'this.#setStalled(shard, isDatabaseAway(error));',
    changed: '',
    test: 'src/webhooks/deliveries/recording/recorder.test.ts',
    title: 'a webhook that is locked stalls its own shard only',
  },
  {
    name: 'rows that are committed late are found a second later',
    file: 'src/webhooks/deliveries/reader.ts',
    original: '- BOUNDS.usualCommitMs;',
    changed: '- 25;',
    test: 'src/webhooks/deliveries/reader.test.ts',
    title: 'a row that is committed 250 ms after its time',
  },
  {
    name: 'an erased event is sent from memory',
    file: 'src/webhooks/deliveries/attempts.ts',
    original: 'const isOld = databaseClock.nowMs() - delivery.readAtMs > MAX_WAIT_IN_MEMORY_MS;',
    changed: 'const isOld = false;',
    test: 'src/webhooks/deliveries/worker.test.ts',
    title: 'an erased event is not sent 5 s after its read',
  },
  {
    name: 'after an outage a deliverer ends the others before they can renew',
    file: 'src/webhooks/ownership/ownership.ts',
    original: 'const BEATS_BEFORE_ENDING_OTHERS = 3;',
    changed: 'const BEATS_BEFORE_ENDING_OTHERS = 1;',
    test: 'src/webhooks/ownership/ownership.test.ts',
    title: 'after the database was away, others are ended only',
  },
  {
    name: 'deliveries of a webhook that is enabled again are dropped',
    file: 'src/webhooks/deliveries/drop-store.ts',
    original: 'and ($3 or not exists (select from webhooks a where a.shard = $1 and a.id = d.webhook_id and a.active))',
    changed: '',
    test: 'src/webhooks/deliveries/drop-store.test.ts',
    title: 'waiting deliveries of a disabled webhook are dropped',
  },
];

const STREAM_BUGS: StoreBug[] = [
  {
    name: 'the stream waits for a session that handles a notification',
    file: 'src/stream/horizon-store.ts',
    original: `\n          and state is distinct from 'idle'`,
    changed: '',
    test: 'src/stream/horizon-store.test.ts',
    title: 'a session that handles a notification',
  },
];

export const STORE_BUGS: readonly StoreBug[] = [...JOB_BUGS, ...LIVE_BUGS, ...DELIVERY_BUGS, ...STREAM_BUGS];
