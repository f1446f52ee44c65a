import type { Account } from '../../accounts/account.ts';
import { missingUnits } from '../../accounts/ledger/ledger-store.ts';
import type { AudioStorage } from '../../audio/storage/storage.ts';
import type { Database, Sql } from '../../db/database.ts';
import { isDatabaseAway, isRolledBack } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import type { IdempotencyHandle } from '../../http/route.ts';
import { costUnits, creditsFromUnits } from '../../rules/jobs/price.ts';
import type { Job } from '../job.ts';
import { acceptJob } from './accept-store.ts';
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
  /** The key of the request. */
  keyId: string | null;
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
    // Without a key there is one statement only, which needs no transaction.
    return order.idempotency.hasKey
      ? await db.transaction((tx) => bindAndAccept(tx, order))
      : await acceptOrder(db, order);
  } catch (cause) {
    // A commit whose answer was lost may have happened; the job then needs its audio. If not, the sweep removes the file.
    if (!isDatabaseAway(cause) || isRolledBack(cause)) await storage.remove(order.audio.key);
    throw cause;
  }
}

async function bindAndAccept(tx: Sql, order: NewJobOrder): Promise<Job> {
  await order.idempotency.bindJob(tx, order.id);
  return await acceptOrder(tx, order);
}

/**
 * Holds the cost and inserts the job.
 * @throws ApiError  402
 */
export async function acceptOrder(sql: Sql, { id, account, keyId, request, audio, rate }: NewJobOrder): Promise<Job> {
  const units = costUnits(audio.durationMs, rate);
  const job = await acceptJob(sql, {
    shard: account.shard,
    id,
    accountId: account.id,
    keyId,
    plan: request.plan,
    language: request.language,
    wordTimes: request.wordTimes,
    options: request.options,
    metadata: request.metadata,
    filename: audio.filename,
    format: audio.format,
    sizeBytes: audio.sizeBytes,
    audioKey: audio.key,
    durationMs: audio.durationMs,
    unlimited: account.unlimited,
    heldUnits: account.unlimited ? 0 : units,
  });
  if (job === null) throw tooExpensive(units, await missingUnits(sql, account, units));
  return job;
}

function tooExpensive(units: number, missing: number): ApiError {
  const needed = creditsFromUnits(units);
  const available = creditsFromUnits(units - missing);
  return new ApiError(
    'insufficient_balance',
    `The audio costs ${needed} credits and the balance holds ${available}. Add credits, or send less audio.`,
    { extra: { needed_credits: needed, available_credits: available } },
  );
}
