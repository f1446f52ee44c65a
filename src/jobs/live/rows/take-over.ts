import type { Database } from '../../../db/database.ts';
import { BOUNDS } from '../../../rules/bounds.ts';
import type { ClaimedJob } from '../../job.ts';
import { notifyChanged } from '../../notify.ts';
import type { Holder } from '../../queue/lease-store.ts';
import type { JobKey } from '../../store.ts';
import { type LiveRow, takeLiveJob, takeLiveSession } from './live-store.ts';

export type TakenSession = { job: ClaimedJob; row: LiveRow };

/**
 * Takes a live session over, for the first connection or a later one: whoever held it before can write nothing more,
 * and what it wrote until now is in the row. The lease is that of any job until it is renewed. Null when its job has
 * ended, or is none of the account.
 */
export async function takeOverSession(
  db: Database,
  key: JobKey & { accountId: string },
  holder: Holder,
): Promise<TakenSession | null> {
  const taken = await db.transaction(async (tx) => {
    const job = await takeLiveJob(tx, key, { holder, leaseMs: BOUNDS.leaseMs });
    const row = job && (await takeLiveSession(tx, { ...key, lease: job.lease }, true));
    return job && row && { job, row };
  });
  if (taken) notifyChanged(db, key.id);
  return taken;
}
