import {
  type DeletedAccount,
  deleteAccountRow,
  deleteLedgerOf,
  findDeletedAccounts,
} from '../accounts/erasure-store.ts';
import { deleteKeysOfAccount } from '../accounts/keys/key-store.ts';
import { forgetCheck } from '../accounts/ledger/drift-store.ts';
import { deleteWindowsOf } from '../accounts/rate-limits/rate-store.ts';
import type { StorageRuntime } from '../audio/storage/storage.ts';
import { deleteChangesByKeysOf } from '../audit/store.ts';
import { SWEEP_BATCH } from '../db/statements/batched-delete.ts';
import { PassCursor, RowPass } from '../db/statements/row-pass.ts';
import { deleteKeysOfAccount as deleteIdempotencyKeys } from '../http/idempotency/idempotency-store.ts';
import { deleteJobs, deleteQueueOf, findJobsOfAccount } from '../jobs/retention/erasure-store.ts';
import { deleteUsageOf } from '../jobs/usage/usage-store.ts';
import { deleteAttemptsOfAccount, deleteEventsOfAccount, deleteWebhooksOfAccount } from '../webhooks/erasure-store.ts';

type AccountKey = Pick<DeletedAccount, 'shard' | 'id'>;
/** Erases at most `limit` rows of an account. Returns how many. */
type Step = (runtime: StorageRuntime, account: AccountKey, limit: number) => Promise<number>;

// What requests and jobs that had begun before may still add is erased too:
// the longest upload takes 6 h, and a job less.
const KEEP_MS = 24 * 3_600_000;
/** Accounts of one pass. */
export const ERASED_ACCOUNTS = 100;
const REMOVED_AT_ONCE = 50;

// Nothing more is accepted, sent and started; then what is left.
const STEPS: Step[] = [
  ({ db }, account, limit) => deleteKeysOfAccount(db, account, limit),
  ({ db }, account, limit) => deleteWebhooksOfAccount(db, account, limit),
  eraseJobs,
  ({ db }, account) => deleteQueueOf(db, account),
  ({ db }, account, limit) => deleteEventsOfAccount(db, account, limit),
  ({ db }, account, limit) => deleteAttemptsOfAccount(db, account, limit),
  ({ db }, account, limit) => deleteIdempotencyKeys(db, account, limit),
  ({ db }, account, limit) => deleteUsageOf(db, account, limit),
  ({ db }, account, limit) => deleteLedgerOf(db, account, limit),
  ({ db }, account) => forgetCheck(db, account),
  ({ db }, account) => deleteWindowsOf(db, account),
  ({ db }, account, limit) => deleteChangesByKeysOf(db, account, limit),
];

/**
 * Erases all that belongs to deleted accounts, in batches. Each statement stands for itself: after a crash the next run
 * erases the rest. A row without content stays for a day. Returns the number of rows that were erased. Rejects when
 * one could not be erased, such as one whose audio cannot be removed; the others are.
 * @param cursor  shared by the passes
 */
export async function eraseAccounts(
  runtime: StorageRuntime,
  {
    signal,
    keepMs = KEEP_MS,
    cursor = new PassCursor(ERASED_ACCOUNTS),
  }: { signal?: AbortSignal; keepMs?: number; cursor?: PassCursor<DeletedAccount> } = {},
): Promise<number> {
  const pass = new RowPass();
  let erased = 0;
  const erase = async ({ isOver, ...account }: DeletedAccount) => {
    const rows = await eraseAccount(runtime, account, signal);
    if (rows > 0) runtime.log.info({ account_id: account.id, rows }, 'account erased');
    else if (isOver) await deleteAccountRow(runtime.db, account);
    erased += rows;
  };
  const accounts = await cursor.next((page) => findDeletedAccounts(runtime.db, { keepMs, ...page }));
  await pass.each(accounts, erase, { signal });
  pass.end();
  return erased;
}

async function eraseAccount(
  runtime: StorageRuntime,
  account: AccountKey,
  signal: AbortSignal | undefined,
): Promise<number> {
  const pass = new RowPass();
  let erased = 0;
  await pass.each(STEPS, async (step) => {
    for (let batch = SWEEP_BATCH; batch === SWEEP_BATCH && !signal?.aborted; erased += batch) {
      batch = await step(runtime, account, SWEEP_BATCH);
    }
  });
  pass.end();
  return erased;
}

/** The files first: after a crash or a failure in between, the rows still name those that are left. */
async function eraseJobs({ db, storage }: StorageRuntime, account: AccountKey, limit: number): Promise<number> {
  const jobs = await findJobsOfAccount(db, account, limit);
  const pass = new RowPass();
  const ids: string[] = [];
  const removeAudio = async ({ id, audioKey }: (typeof jobs)[number]) => {
    if (audioKey !== null) await storage.remove(audioKey);
    ids.push(id);
  };
  await pass.each(jobs, removeAudio, { atOnce: REMOVED_AT_ONCE });
  if (ids.length > 0) await deleteJobs(db, account.shard, ids);
  pass.end();
  return ids.length;
}
