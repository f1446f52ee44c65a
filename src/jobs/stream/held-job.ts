import type { Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import type { AnswerMemory } from '../../http/route.ts';
import type { Job } from '../job.ts';
import { findJob, type JobKey } from '../store.ts';
import { orUndefinedWhileAway } from './while-away.ts';

// A segment that was parsed takes twice the bytes of its text; the text is kept beside it.
const HELD_PER_BYTE = 3;

/**
 * The job of a stream. The memory for a long text counts until `held` is disposed:
 * a client that does not read keeps it.
 * @returns undefined while the database is away, null for a deleted job, `refused` where there is no memory for it,
 *   or nobody waits for it any more
 */
export async function readHeldJob(
  { db, memory }: { db: Sql; memory: AnswerMemory },
  key: JobKey & { accountId: string },
  { held, signal }: { held: DisposableStack; signal: AbortSignal },
): Promise<Job | null | undefined | 'refused'> {
  const reserve = (bytes: number) => void held.use(memory.hold(HELD_PER_BYTE * bytes));
  try {
    return await orUndefinedWhileAway(findJob(db, key, { reserve, signal }));
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) return 'refused';
    throw error;
  }
}
