import type { Account } from '../../accounts/account.ts';
import { holdForJob } from '../../accounts/ledger/ledger-store.ts';
import type { AudioStorage } from '../../audio/storage/storage.ts';
import type { Database, Sql } from '../../db/database.ts';
import { isDatabaseAway, isRolledBack } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import type { IdempotencyHandle } from '../../http/route.ts';
import { costUnits, creditsFromUnits } from '../../rules/jobs/price.ts';
import type { Job } from '../job.ts';
import { insertJob } from '../store.ts';
import type { JobRequest } from './request.ts';

export type StoredAudio = {
  key: string;
  filename: string | null;
  sizeBytes: number;
  /** As the probe found it. */
  format: string;
  durationMs: number;
};

export type NewJobOrder = {
  id: string;
  account: Account;
  request: JobRequest;
  audio: StoredAudio;
  /** Credits per minute on the request's plan. */
  rate: number;
  /** A job is made once for each Idempotency-Key. */
  idempotency: IdempotencyHandle;
};

/**
 * Holds the cost and inserts the job in one transaction. Once it resolves, the job is durable.
 * @throws ApiError  402 when the balance does not cover the length that the probe found
 */
export async function createJob(
  { db, storage }: { db: Database; storage: AudioStorage },
  order: NewJobOrder,
): Promise<Job> {
  try {
    return await db.transaction((tx) => holdAndInsert(tx, order));
  } catch (cause) {
    // A commit whose answer was lost may have happened; the job then needs its audio. If not, the sweep removes the file.
    if (!isDatabaseAway(cause) || isRolledBack(cause)) await storage.remove(order.audio.key);
    throw cause;
  }
}

async function holdAndInsert(tx: Sql, { id, account, request, audio, rate, idempotency }: NewJobOrder): Promise<Job> {
  await idempotency.bindJob(tx, id);
  const units = costUnits(audio.durationMs, rate);
  const hold = await holdForJob(tx, { account, jobId: id, units });
  if (hold.kind === 'short') throw tooExpensive(units, hold.missingUnits);
  return await insertJob(tx, {
    shard: account.shard,
    id,
    accountId: account.id,
    plan: request.plan,
    language: request.language,
    wordTimes: request.wordTimes,
    metadata: request.metadata,
    filename: audio.filename,
    format: audio.format,
    sizeBytes: audio.sizeBytes,
    audioKey: audio.key,
    durationMs: audio.durationMs,
    heldUnits: account.unlimited ? 0 : units,
  });
}

function tooExpensive(units: number, missingUnits: number): ApiError {
  const needed = creditsFromUnits(units);
  const available = creditsFromUnits(units - missingUnits);
  return new ApiError(
    'insufficient_balance',
    `The audio costs ${needed} credits and the balance holds ${available}. Add credits, or send less audio.`,
    { extra: { needed_credits: needed, available_credits: available } },
  );
}
