import type { DeletedAccount } from '../../accounts/erasure-store.ts';
import { deleteEndedSessions } from '../../accounts/keys/session-store.ts';
import { countDriftedAccounts } from '../../accounts/ledger/drift.ts';
import { openStorage } from '../../audio/storage/open-storage.ts';
import type { StorageRuntime } from '../../audio/storage/storage.ts';
import { AUDIT_KEEP_DAYS } from '../../audit/record.ts';
import { deleteOldChanges } from '../../audit/store.ts';
import type { Runtime } from '../../db/runtime.ts';
import { deleteInBatches, SWEEP_BATCH, sumShards } from '../../db/statements/batched-delete.ts';
import { PassCursor } from '../../db/statements/row-pass.ts';
import { deleteExpiredKeys } from '../../http/idempotency/idempotency-store.ts';
import { expireWaiting } from '../../jobs/execution/expire-waiting.ts';
import type { IdleSession } from '../../jobs/live/live-store.ts';
import { measureJobBacklog } from '../../jobs/queue/backlog-store.ts';
import { correctQueueCounts } from '../../jobs/queue/queue-count.ts';
import { deleteExpiredUploadRequests } from '../../jobs/repeats/repeat-store.ts';
import { ERASED_AT_ONCE, eraseEndedAudio, type JobWithAudio, sweepOrphans } from '../../jobs/retention/audio-sweep.ts';
import { eraseExpiredJobs } from '../../jobs/retention/expiry.ts';
import { deleteOldJobs } from '../../jobs/retention/retention-store.ts';
import { deleteSomeChunks } from '../../jobs/search/chunk-store.ts';
import { reindexChunks } from '../../jobs/search/reindex.ts';
import { deleteExpiredShares } from '../../jobs/sharing/share-store.ts';
import { deleteOldHours } from '../../jobs/usage/usage-store.ts';
import { countQueued } from '../../jobs/waiting/wait-store.ts';
import { SWEPT_AT_ONCE, sweepLiveSessions } from '../../live/session/end-live.ts';
import { ERASED_ACCOUNTS, eraseAccounts } from '../../operator/erase-accounts.ts';
import { readServerVersion } from '../../operator/version-store.ts';
import { jobMetrics, type Metrics } from '../../platform/metrics.ts';
import { WAITING_FOR } from '../../rules/jobs/job-state.ts';
import { USAGE_HOURS_KEPT_DAYS } from '../../rules/jobs/usage-range.ts';
import { measureDeliveryBacklog } from '../../webhooks/deliveries/backlog-store.ts';
import { deleteOldEvents } from '../../webhooks/events/retention-store.ts';
import { maintainPartitions, sweepAttempts } from '../../webhooks/log/retention.ts';
import type { StartOrder } from '../messages.ts';
import type { RunningRole } from './role.ts';

const MS_PER_MINUTE = 60_000;
const MS_PER_HOUR = 3_600_000;
const HOURS_PER_DAY = 24;
// Operators wait for it.
const ERASURE_MS = 5_000;
// A client that did not connect within a minute has its hold back soon.
const LIVE_SWEEP_MS = 5_000;

type JanitorRuntime = StorageRuntime & { metrics: Metrics };
/** Runs for the first time after FIRST_RUN_AFTER_MS, unless `runsAtStart`. */
type Task = { name: string; everyMs: number; runsAtStart?: boolean; run(): Promise<unknown> };

// The tasks run some 200 statements, which would compete with the start of the other processes.
const FIRST_RUN_AFTER_MS = 10_000;

/**
 * Runs the periodic tasks: retention, partition maintenance, ledger checks. Two nodes may run a task at the same time.
 */
export async function start(
  context: Runtime & { metrics: Metrics; order: Pick<StartOrder, 'storageId'> },
): Promise<RunningRole> {
  const runtime = { ...context, storage: await openStorage(context.config, context.order.storageId) };
  const stopping = new AbortController();
  const tasks = [
    ...retentionTasks(runtime, context.metrics, stopping.signal),
    ledgerTask(runtime, stopping.signal),
    queueCountTask(runtime, stopping.signal),
  ];
  const running = tasks.map((task) => repeat(task, runtime, stopping.signal));
  return {
    // While the database is away, the last figures stay; /readyz reports it.
    measure: () => measureBacklogs(context).catch(() => undefined),
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

function retentionTasks(runtime: StorageRuntime, metrics: Metrics, signal: AbortSignal): Task[] {
  const { config, db, clock } = runtime;
  const limit = SWEEP_BATCH;
  const keepDays = { lite: config.retentionDaysLite, pro: config.retentionDaysPro };
  const deliveryLog = { db, clock, keepDays, signal };
  // Audio is never kept longer than its job.
  const audioKeepHours = Math.min(config.audioRetentionHours, config.jobRetentionDays * HOURS_PER_DAY);
  const endedAudio = new PassCursor<JobWithAudio>(ERASED_AT_ONCE);
  const idleSessions = new PassCursor<IdleSession>(SWEPT_AT_ONCE);
  const cursor = new PassCursor<DeletedAccount>(ERASED_ACCOUNTS);
  return [
    {
      name: 'audio of ended jobs',
      everyMs: MS_PER_MINUTE,
      run: () => eraseEndedAudio(runtime, audioKeepHours * MS_PER_HOUR, endedAudio),
    },
    { name: 'audio without a job', everyMs: 10 * MS_PER_MINUTE, run: () => sweepOrphans(runtime) },
    {
      name: 'partitions of the delivery log',
      everyMs: MS_PER_HOUR,
      // Before the first attempt of a day without a partition is recorded.
      runsAtStart: true,
      run: () => maintainPartitions(deliveryLog),
    },
    { name: 'old attempts', everyMs: MS_PER_HOUR, run: () => sweepAttempts(deliveryLog) },
    {
      name: 'old events',
      everyMs: MS_PER_HOUR,
      run: () => deleteInBatches((shard) => deleteOldEvents(db, { shard, keepDays, limit }), signal),
    },
    {
      name: 'jobs whose time is over',
      everyMs: MS_PER_MINUTE,
      run: () => sumShards((shard) => eraseExpiredJobs(runtime, { shard, signal }), signal),
    },
    {
      name: 'jobs that waited too long',
      everyMs: MS_PER_MINUTE,
      run: () => expireWaiting({ ...runtime, jobMetrics: jobMetrics(metrics) }),
    },
    {
      name: 'live sessions that ended',
      everyMs: LIVE_SWEEP_MS,
      run: () => sweepLiveSessions({ ...runtime, jobMetrics: jobMetrics(metrics) }, idleSessions),
    },
    { name: 'deleted accounts', everyMs: ERASURE_MS, run: () => eraseAccounts(runtime, { signal, cursor }) },
    {
      name: 'old jobs',
      everyMs: MS_PER_HOUR,
      run: () =>
        deleteInBatches((shard) => deleteOldJobs(db, { shard, keepDays: config.jobRetentionDays, limit }), signal),
    },
    {
      name: 'idempotency keys',
      everyMs: 10 * MS_PER_MINUTE,
      run: () => deleteInBatches((shard) => deleteExpiredKeys(db, { shard, limit, now: null }), signal),
    },
    {
      name: 'uploads that are not joined any more',
      everyMs: MS_PER_HOUR,
      run: () => deleteInBatches((shard) => deleteExpiredUploadRequests(db, { shard, limit }), signal),
    },
    {
      name: 'expired links to transcripts',
      everyMs: MS_PER_HOUR,
      run: () => deleteInBatches((shard) => deleteExpiredShares(db, { shard, limit }), signal),
    },
    {
      name: 'old figures of hours',
      everyMs: MS_PER_HOUR,
      run: () =>
        deleteInBatches((shard) => deleteOldHours(db, { shard, keepDays: USAGE_HOURS_KEPT_DAYS, limit }), signal),
    },
    config.search === 'on'
      ? { name: 'words of earlier releases', everyMs: MS_PER_HOUR, run: () => reindexChunks(db, signal) }
      : unindexTask(runtime, signal),
    {
      name: 'ended sessions',
      everyMs: MS_PER_HOUR,
      run: () => deleteAll(() => deleteEndedSessions(db, limit), signal),
    },
    {
      name: 'old audit entries',
      everyMs: MS_PER_HOUR,
      run: () => deleteAll(() => deleteOldChanges(db, { keepDays: AUDIT_KEEP_DAYS, limit }), signal),
    },
  ];
}

/** For a service that has switched search off. */
function unindexTask({ db }: Runtime, signal: AbortSignal): Task {
  const run = () => deleteInBatches((shard) => deleteSomeChunks(db, { shard, limit: SWEEP_BATCH }), signal);
  return { name: 'words of transcripts', everyMs: MS_PER_HOUR, run };
}

/** Deletes batch after batch, in a table without shards. */
async function deleteAll(deleteBatch: () => Promise<number>, signal: AbortSignal): Promise<number> {
  let deleted = 0;
  let batch = SWEEP_BATCH;
  for (; batch === SWEEP_BATCH && !signal.aborted; deleted += batch) batch = await deleteBatch();
  return deleted;
}

function ledgerTask({ db, log, clock, metrics }: JanitorRuntime, signal: AbortSignal): Task {
  async function checkLedgers(): Promise<number | null> {
    const drifted = await countDriftedAccounts(db, { signal });
    if (drifted === null) return null;
    metrics.ledgerDrift.set(drifted);
    metrics.ledgerChecked.set(clock.now() / 1000);
    if (drifted > 0) log.error({ accounts: drifted }, 'balances differ from their ledgers');
    return drifted;
  }
  return { name: 'ledger drift', everyMs: MS_PER_HOUR, run: checkLedgers };
}

function queueCountTask({ db, log }: Runtime, signal: AbortSignal): Task {
  async function correctCounts(): Promise<number> {
    const wrong = await correctQueueCounts(db, signal);
    if (wrong.length > 0) log.error({ accounts: wrong }, 'counts of waiting jobs were wrong; they are corrected');
    return wrong.length;
  }
  return { name: 'counts of waiting jobs', everyMs: 10 * MS_PER_MINUTE, run: correctCounts };
}

async function repeat(task: Task, { log, clock }: Runtime, signal: AbortSignal): Promise<void> {
  if (!task.runsAtStart) await clock.sleep(FIRST_RUN_AFTER_MS, signal);
  while (!signal.aborted) {
    try {
      const result = await task.run();
      log.debug({ task: task.name, result }, 'periodic task');
    } catch (error) {
      log.warn({ task: task.name, err: error }, 'periodic task failed; it runs again after its interval');
    }
    await clock.sleep(task.everyMs, signal);
  }
}

async function measureBacklogs({ db, metrics }: Runtime & { metrics: Metrics }): Promise<void> {
  const [jobs, queued, deliveries, version] = await Promise.all([
    measureJobBacklog(db),
    countQueued(db),
    measureDeliveryBacklog(db),
    readServerVersion(db),
  ]);
  metrics.jobsDue.set(jobs.due);
  metrics.jobsOldestDueSeconds.set(jobs.oldestDueSeconds);
  for (const reason of WAITING_FOR) {
    const waiting = queued.filter(({ waitingFor }) => waitingFor === reason);
    metrics.jobsWaiting.set(
      { reason },
      waiting.reduce((sum, plan) => sum + plan.jobs, 0),
    );
  }
  metrics.deliveriesPastDue.set(deliveries.due);
  metrics.deliveriesOldestDueSeconds.set(deliveries.oldestDueSeconds);
  // An upgrade while this process runs leaves one label.
  metrics.postgresVersion.reset();
  metrics.postgresVersion.set({ version }, 1);
}
