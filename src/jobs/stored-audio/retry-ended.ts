import { findAccount } from '../../accounts/store.ts';
import type { StorageRuntime } from '../../audio/storage/storage.ts';
import { creditRates } from '../../config/rates.ts';
import { isDatabaseAway, isRolledBack } from '../../db/database.ts';
import { pickColumns } from '../../db/statements/columns.ts';
import { RowPass } from '../../db/statements/row-pass.ts';
import { ApiError } from '../../http/api-error.ts';
import { NO_IDEMPOTENCY_KEY } from '../../http/route.ts';
import { makeId } from '../../platform/clock.ts';
import { mayUsePlan } from '../../rules/accounts/plan.ts';
import { acceptOrder } from '../api/create.ts';
import { JOB_TABLE, type JobHead } from '../job.ts';
import { type EndedPlace, type EndedWith, findEndedJobs, lockRetries, setRetryOf } from './ended-jobs-store.ts';
import { keptAudioKey } from './kept-audio.ts';
import { storedAudioOf } from './retry.ts';

/** What came of a job that ended: a new one was made, or why not. */
type Retried = 'retried' | 'audio_gone' | 'insufficient_balance' | 'account_gone' | 'retried_before';

/** Counts by what came of the jobs. `nextSince`: jobs that ended from then on were not looked at; null: all were. */
type RetriedEnded = Record<Retried, number> & { nextSince: string | null };

/** Rolls a transaction back: another request retried the job meanwhile. */
class RetriedBefore extends Error {}

// Each copies its audio: in a bucket that takes some 50 ms.
const MAX_JOBS = 500;

type Wanted = { since: Date; until: Date; endedWith: EndedWith; isDryRun: boolean };

/**
 * Makes a new job on the stored audio of each job that ended so in that time, at most 500 at a time; each job is
 * retried once, also by two calls at once or after a crash, on its plan or, where the account may not use that any
 * more, on the account's. A dry run counts the jobs whose audio is stored.
 */
export async function retryEndedJobs(runtime: StorageRuntime, wanted: Wanted): Promise<RetriedEnded> {
  const { db } = runtime;
  const counts = { retried: 0, audio_gone: 0, insufficient_balance: 0, account_gone: 0, retried_before: 0 };
  const after: EndedPlace = { at: wanted.since.toISOString(), id: '' };
  const found = await findEndedJobs(db, { ...wanted, after, limit: MAX_JOBS + 1 });
  const pass = new RowPass();
  await pass.each(found.slice(0, MAX_JOBS), async (job) => {
    const outcome = await retryOne(runtime, job, wanted.isDryRun);
    counts[outcome] += 1;
  });
  pass.end();
  return { ...counts, nextSince: found[MAX_JOBS]?.completedAt?.toISOString() ?? null };
}

async function retryOne(runtime: StorageRuntime, job: JobHead, isDryRun: boolean): Promise<Retried> {
  const { db, storage, config } = runtime;
  const account = await findAccount(db, job.accountId);
  if (!account) return 'account_gone';
  const plan = mayUsePlan(account.plan, job.plan) ? job.plan : account.plan;
  const stored = storedAudioOf(job, keptAudioKey(job, config));
  if (isDryRun) return stored ? 'retried' : 'audio_gone';
  const key = stored && (await storage.copy(stored.key));
  if (!stored || !key) return 'audio_gone';
  const order = {
    id: makeId('job', runtime.clock),
    account,
    keyId: job.keyId,
    request: pickColumns(JOB_TABLE.requested, job),
    idempotency: NO_IDEMPOTENCY_KEY,
    audio: { kind: 'stored' as const, ...stored, key },
    rate: creditRates(config)[plan],
  };
  try {
    await db.transaction(async (tx) => {
      if ((await lockRetries(tx, job)).isRetried) throw new RetriedBefore();
      await acceptOrder(tx, { ...order, request: { ...order.request, plan } });
      await setRetryOf(tx, { shard: account.shard, id: order.id }, job.id);
    });
    return 'retried';
  } catch (cause) {
    // As for an upload: the commit may have happened, and the job then needs its audio.
    if (!isDatabaseAway(cause) || isRolledBack(cause)) await storage.remove(key);
    if (cause instanceof RetriedBefore) return 'retried_before';
    if (cause instanceof ApiError && cause.type === 'insufficient_balance') return 'insufficient_balance';
    // The account has another plan since.
    if (cause instanceof ApiError && cause.type === 'plan_limit') return await retryOne(runtime, job, isDryRun);
    throw cause;
  }
}
