import type { Database } from '../../db/database.ts';
import type { ClaimedJob } from '../../jobs/job.ts';
import { findLiveSession, type LiveRow, takeLiveJob, takeLiveSession } from '../../jobs/live/live-store.ts';
import { notifyChanged } from '../../jobs/notify.ts';
import type { Holder } from '../../jobs/queue/lease-store.ts';
import type { JobKey } from '../../jobs/store.ts';
import { BOUNDS } from '../../rules/bounds.ts';

export type TakenSession = { job: ClaimedJob; row: LiveRow };

/**
 * Takes a live session over, for the first connection or a later one: whoever held it before can write nothing more,
 * and what it wrote until now is in the row. Null when its job has ended, or belongs to another account.
 */
export async function takeOverSession(
  db: Database,
  key: JobKey & { accountId: string },
  holder: Holder,
): Promise<TakenSession | null> {
  const taken = await db.transaction(async (tx) => {
    const before = await findLiveSession(tx, key);
    const job = before && (await takeLiveJob(tx, key, { holder, leaseMs: leaseMsOf(before) }));
    const row = job && (await takeLiveSession(tx, { ...key, lease: job.lease }, true));
    return job && row && { job, row };
  });
  if (taken) notifyChanged(db, key.id);
  return taken;
}

/** How long a session stays with a process that does not renew: its client can come back in this time. */
export function leaseMsOf({ options }: Pick<LiveRow, 'options'>): number {
  return Math.max(BOUNDS.leaseMs, options.resumeSeconds * 1000);
}
