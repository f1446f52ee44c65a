import type { Account } from '../../accounts/account.ts';
import { insufficientBalance } from '../../accounts/ledger/insufficient-balance.ts';
import { missingUnits } from '../../accounts/ledger/ledger-store.ts';
import { findAccount, lockAccount } from '../../accounts/store.ts';
import type { StorageRuntime } from '../../audio/storage/storage.ts';
import { isDatabaseAway, isRolledBack, type Sql } from '../../db/database.ts';
import { pickColumns } from '../../db/statements/columns.ts';
import { ApiError } from '../../http/api-error.ts';
import type { IdempotencyHandle } from '../../http/route.ts';
import { type AudioTrack, channelsToHold } from '../../rules/channels/audio-tracks.ts';
import { costUnits } from '../../rules/jobs/price.ts';
import { insertWebhookOfJob } from '../../webhooks/endpoints/job-webhook-store.ts';
import type { RemoteAudio } from '../fetch/audio-url.ts';
import { JOB_TABLE, type Job, type NewJob } from '../job.ts';
import { insertUploadRequest } from '../repeats/repeat-store.ts';
import { REMEMBERED_MS, type Repeatable } from '../repeats/repeats.ts';
import { acceptFetch, acceptJob } from './accept-store.ts';
import type { JobWebhook } from './job-webhook.ts';
import { type JobRequest, permitPlan } from './request.ts';

/** Audio in the storage. */
type StoredAudio = {
  kind: 'stored';
  key: string;
  filename: string | null;
  /** Where it was fetched from, in a retry; absent for an upload. */
  source?: string | null;
  sizeBytes: number;
  /** As the probe found it. */
  format: string;
  durationMs: number;
  tracks: AudioTrack[];
};

export type NewAudio = StoredAudio | RemoteAudio;

export type NewJobOrder = {
  id: string;
  account: Account;
  /** The key of the request. */
  keyId: string | null;
  /** The trace of the request; null or absent: none. */
  traceparent?: string | null;
  request: JobRequest;
  audio: NewAudio;
  /** Null or absent: it has none of its own. */
  webhook?: JobWebhook | null;
  /** The field of the request that named the plan; absent: plan. */
  planField?: string;
  /** Credits per minute on the request's plan. */
  rate: number;
  /** A job is made once for each Idempotency-Key. */
  idempotency: IdempotencyHandle;
  /** Of an upload without a key whose repetitions are to find the job. */
  repeatable?: Repeatable | null;
};

/**
 * Holds the cost and inserts the job in one transaction. Once it resolves, the job is durable.
 * @throws ApiError  402 when the balance does not cover the length that the probe found, 403 when the account's plan
 *   does not allow the job's any more
 */
export async function createJob({ db, storage }: StorageRuntime, order: NewJobOrder): Promise<Job> {
  const { audio } = order;
  try {
    const { idempotency, webhook, repeatable } = order;
    // Without these there is one statement only, which needs no transaction.
    if (!idempotency.hasKey && !webhook && !repeatable) return await acceptOrder(db, order);
    return await db.transaction(async (tx) => {
      if (idempotency.hasKey) await idempotency.bindJob(tx, order.id);
      const job = await acceptOrder(tx, order);
      if (repeatable) await insertUploadRequest(tx, { ...repeatable, jobId: order.id, keepMs: REMEMBERED_MS });
      return job;
    });
  } catch (cause) {
    // A commit whose answer was lost may have happened;
    // the job then needs its audio. If not, the sweep removes the file.
    const isUnused = !isDatabaseAway(cause) || isRolledBack(cause);
    if (audio.kind === 'stored' && isUnused) await storage.remove(audio.key);
    throw cause;
  }
}

/** Inserts the job, and its own webhook; holds the cost of audio that is stored. @throws ApiError  402 or 403 */
export async function acceptOrder(sql: Sql, order: NewJobOrder): Promise<Job> {
  const { id, audio, account, webhook } = order;
  if (webhook) {
    webhook.requirePlan((await lockAccount(sql, account)) ?? account.plan);
    await insertWebhookOfJob(sql, { shard: account.shard, accountId: account.id }, webhook.rowFor(id));
  }
  if (audio.kind === 'stored') return await acceptStored(sql, order, audio);
  const job = await acceptFetch(sql, { ...newJob(order), request: audio.sealFor(id) });
  if (job === null) throw await planChanged(sql, order);
  return job;
}

function newJob({ id, account, keyId, request, audio, traceparent = null }: NewJobOrder): NewJob {
  return {
    shard: account.shard,
    id,
    accountId: account.id,
    keyId,
    plan: request.plan,
    filename: audio.filename,
    audioSource: audio.source ?? null,
    unlimited: account.unlimited,
    traceparent,
    ...pickColumns(JOB_TABLE.requested, request),
  };
}

async function acceptStored(sql: Sql, order: NewJobOrder, audio: StoredAudio): Promise<Job> {
  const { account, rate } = order;
  const units = costUnits(audio.durationMs * channelsToHold(audio.tracks, order.request.options), rate);
  const job = await acceptJob(sql, {
    ...newJob(order),
    format: audio.format,
    sizeBytes: audio.sizeBytes,
    tracks: audio.tracks,
    audioKey: audio.key,
    durationMs: audio.durationMs,
    heldUnits: account.unlimited ? 0 : units,
  });
  if (job !== null) return job;
  await requirePlan(sql, order);
  throw tooExpensive(units, await missingUnits(sql, account, units));
}

/** By the account's plan as it is now. @throws ApiError  403 */
async function requirePlan(sql: Sql, { account, request, planField = 'plan' }: NewJobOrder): Promise<void> {
  const now = await findAccount(sql, account.id);
  if (now !== null) permitPlan(planField, request.plan, now.plan);
}

/** The job was refused for its plan, which may be allowed again. */
async function planChanged(sql: Sql, order: NewJobOrder): Promise<ApiError> {
  await requirePlan(sql, order);
  return new ApiError('conflict', 'The plan of the account changed at this moment; send the request again.');
}

function tooExpensive(units: number, missing: number): ApiError {
  return insufficientBalance(
    { neededUnits: units, availableUnits: units - missing },
    ({ needed, available }) =>
      `The audio costs ${needed} credits and the balance holds ${available}. Add credits, or send less audio.`,
  );
}
