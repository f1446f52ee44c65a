import type { Account } from '../accounts/account.ts';
import type { Sql } from '../db/database.ts';
import { ApiError } from '../http/api-error.ts';
import { isId } from '../rules/ids.ts';
import type { Job, JobHead } from './job.ts';
import { findJob, findJobHead } from './store.ts';

/**
 * A job of the account. The answer is the same for an unknown id, a malformed id, and the id of another account's job.
 * @param how  as for `findJob`
 * @throws ApiError  404
 */
export async function jobOr404(
  sql: Sql,
  account: Pick<Account, 'shard' | 'id'>,
  id: string,
  how?: Parameters<typeof findJob>[2],
): Promise<Job> {
  return isId('job', id) ? orThrow(await findJob(sql, keyOf(account, id), how)) : orThrow<Job>(null);
}

/** The same without its text. @throws ApiError  404 */
export async function jobHeadOr404(sql: Sql, account: Pick<Account, 'shard' | 'id'>, id: string): Promise<JobHead> {
  return isId('job', id) ? orThrow(await findJobHead(sql, keyOf(account, id))) : orThrow<JobHead>(null);
}

function keyOf(account: Pick<Account, 'shard' | 'id'>, id: string) {
  return { shard: account.shard, accountId: account.id, id };
}

function orThrow<Found>(job: Found | null): Found {
  if (job === null) throw new ApiError('not_found', 'There is no such job.');
  return job;
}
