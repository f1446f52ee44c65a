import type { Sql } from '../../db/database.ts';
import { SHARD_COUNT } from '../../rules/shard.ts';
import { advanceCheck, forgetCheck, type LedgerOwner, listLimitedAccounts, sumsUp } from './drift-store.ts';

const ACCOUNTS_PER_PAGE = 500;
// Takes milliseconds, far below the statement timeout.
const ENTRIES_PER_SLICE = 10_000;

type Options = { signal?: AbortSignal; entriesPerSlice?: number };

/**
 * How many accounts have a balance that is not the sum of their ledger; a number other than 0 is a bug. Reads only what
 * was added to the ledgers since the last check, in statements of bounded size. Null when the signal aborted it.
 * @throws  the error of the database; the count is unknown then
 */
export async function countDriftedAccounts(sql: Sql, options: Options = {}): Promise<number | null> {
  let drifted = 0;
  for (let shard = 0; shard < SHARD_COUNT; shard++) {
    let page: LedgerOwner[] = [];
    do {
      page = await listLimitedAccounts(sql, { shard, afterId: page.at(-1)?.id ?? '', limit: ACCOUNTS_PER_PAGE });
      for (const account of page) {
        if (options.signal?.aborted) return null;
        if (!(await isRight(sql, account, options))) drifted++;
      }
    } while (page.length === ACCOUNTS_PER_PAGE);
  }
  return drifted;
}

/** A difference counts only when the whole ledger shows it. */
async function isRight(sql: Sql, account: LedgerOwner, options: Options): Promise<boolean> {
  await advanceToPresent(sql, account, options);
  if (await sumsUp(sql, account)) return true;
  await forgetCheck(sql, account);
  await advanceToPresent(sql, account, options);
  return await sumsUp(sql, account);
}

async function advanceToPresent(
  sql: Sql,
  account: LedgerOwner,
  { signal, entriesPerSlice = ENTRIES_PER_SLICE }: Options,
): Promise<void> {
  let entries = entriesPerSlice;
  while (entries === entriesPerSlice && !signal?.aborted) {
    entries = await advanceCheck(sql, account, entriesPerSlice);
  }
}
