import type { Account } from '../accounts/account.ts';
import type { Sql } from '../db/database.ts';
import { ApiError } from '../http/api-error.ts';
import { isId } from '../rules/ids.ts';
import type { Job } from './job.ts';
import { findJob } from './store.ts';

/**
 * A job of the account. The answer is the same for an unknown id, a malformed id, and the id of another account's job.
 * @param parts  what is read beside the columns of every job
 * @throws ApiError  404
 */
export async function jobOr404(
  sql: Sql,
  account: Pick<Account, 'shard' | 'id'>,
  id: string,
  parts?: { withWords: boolean },
): Promise<Job> {
  const key = { shard: account.shard, accountId: account.id, id };
  const job = isId('job', id) ? await findJob(sql, key, parts) : null;
  if (job === null) throw new ApiError('not_found', 'There is no such job.');
  return job;
}
