import { countDriftedAccounts } from '../../accounts/ledger/drift.ts';
import { openStorage } from '../../audio/storage/open-storage.ts';
import { AUDIT_KEEP_DAYS } from '../../audit/record.ts';
import { deleteOldChanges } from '../../audit/store.ts';
import { deleteInBatches, SWEEP_BATCH } from '../../db/batched-delete.ts';
import { deleteExpiredKeys } from '../../http/idempotency/idempotency-store.ts';
import { measureJobBacklog } from '../../jobs/queue/backlog-store.ts';
import { eraseEndedAudio, sweepOrphans } from '../../jobs/retention/audio-sweep.ts';
import { deleteOldJobs } from '../../jobs/retention/retention-store.ts';
import { openMetrics, snapshotMetrics } from '../../platform/metrics.ts';
import { measureDeliveryBacklog } from '../../webhooks/deliveries/backlog-store.ts';
import { deleteOldEvents } from '../../webhooks/events/retention-store.ts';
import { sweepAttempts, turnLogDays } from '../../webhooks/log/retention.ts';
import type { RoleContext, RunningRole } from './role.ts';

const MS_PER_HOUR = 3_600_000;
const HOURS_PER_DAY = 24;

type Chore = { name: string; everyMs: number; run(): Promise<unknown> };

/** Keeps the house clean: one list of everything that is done by the clock. Two nodes may do a chore at once. */
export async function start({ config, db, log, clock, report }: RoleContext): Promise<RunningRole> {
  const metrics = openMetrics();
  const storage = await openStorage(config);
  const stopping = new AbortController();
  const { signal } = stopping;
  const keepDays = { lite: config.retentionDaysLite, pro: config.retentionDaysPro };
  const deliveryLog = { db, clock, keepDays, signal };
  const chores: Chore[] = [
    {
      name: 'audio of ended jobs',
      everyMs: 60_000,
      // Audio never outlives its job.
      run: () =>
        eraseEndedAudio(
          { db, storage },
          Math.min(config.audioRetentionHours, config.jobRetentionDays * HOURS_PER_DAY) * MS_PER_HOUR,
        ),
    },
    { name: 'audio without a job', everyMs: 600_000, run: () => sweepOrphans({ db, storage }) },
    { name: 'days of the delivery log', everyMs: MS_PER_HOUR, run: () => turnLogDays(deliveryLog) },
    { name: 'old attempts', everyMs: MS_PER_HOUR, run: () => sweepAttempts(deliveryLog) },
    { name: 'old events', everyMs: MS_PER_HOUR, run: sweepEvents },
    { name: 'old jobs', everyMs: MS_PER_HOUR, run: sweepJobs },
    { name: 'idempotency keys', everyMs: 600_000, run: () => inBatches(deleteKeys) },
    { name: 'old audit entries', everyMs: MS_PER_HOUR, run: () => inBatches(deleteAudit) },
    { name: 'ledger drift', everyMs: 3_600_000, run: watchLedger },
  ];

  function sweepEvents(): Promise<number> {
    return deleteInBatches((shard) => deleteOldEvents(db, { shard, keepDays, limit: SWEEP_BATCH }), signal);
  }

  function sweepJobs(): Promise<number> {
    const old = { keepDays: config.jobRetentionDays, limit: SWEEP_BATCH };
    return deleteInBatches((shard) => deleteOldJobs(db, { ...old, shard }), signal);
  }

  const deleteKeys = () => deleteExpiredKeys(db, { limit: SWEEP_BATCH, now: null });
  const deleteAudit = () => deleteOldChanges(db, { keepDays: AUDIT_KEEP_DAYS, limit: SWEEP_BATCH });

  async function inBatches(deleteBatch: () => Promise<number>): Promise<number> {
    let deleted = 0;
    let batch = SWEEP_BATCH;
    for (; batch === SWEEP_BATCH && !signal.aborted; deleted += batch) batch = await deleteBatch();
    return deleted;
  }

  async function watchLedger(): Promise<number | null> {
    const drifted = await countDriftedAccounts(db, { signal });
    if (drifted === null) return null;
    metrics.ledgerDrift.set(drifted);
    metrics.ledgerChecked.set(clock.now() / 1000);
    if (drifted > 0) log.error({ accounts: drifted }, 'balances differ from their ledgers');
    return drifted;
  }

  async function measureBacklogs(): Promise<void> {
    const [jobs, deliveries] = await Promise.all([measureJobBacklog(db), measureDeliveryBacklog(db)]);
    metrics.jobsDue.set(jobs.due);
    metrics.jobsOldestDueSeconds.set(jobs.oldestDueSeconds);
    metrics.deliveriesPastDue.set(deliveries.due);
    metrics.deliveriesOldestDueSeconds.set(deliveries.oldestDueSeconds);
  }

  async function repeat(chore: Chore): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const done = await chore.run();
        log.debug({ chore: chore.name, done }, 'chore');
      } catch (error) {
        log.warn({ chore: chore.name, err: error }, 'chore failed; it is tried again at its next turn');
      }
      await clock.sleep(chore.everyMs, stopping.signal);
    }
  }

  const turns = chores.map(repeat);
  report({ ready: true, reasons: [] });
  return {
    async metrics() {
      // A database that is away leaves the last figures; /readyz tells of it.
      await measureBacklogs().catch(() => undefined);
      return await snapshotMetrics(metrics);
    },
    async stop() {
      stopping.abort();
      await Promise.all(turns);
    },
  };
}
