import type { Account } from '../accounts/account.ts';
import type { Sql } from '../db/database.ts';
import { ApiError } from '../http/api-error.ts';
import { isId } from '../rules/ids.ts';
import type { Job } from './job.ts';
import { findJob } from './store.ts';

/**
 * A job of the account. The answer is the same for an unknown id, a malformed id, and the id of another account's job.
 * @throws ApiError  404
 */
export async function jobOr404(sql: Sql, account: Pick<Account, 'shard' | 'id'>, id: string): Promise<Job> {
  const job = isId('job', id) ? await findJob(sql, { shard: account.shard, accountId: account.id, id }) : null;
  if (job === null) throw new ApiError('not_found', 'There is no such job.');
  return job;
}
