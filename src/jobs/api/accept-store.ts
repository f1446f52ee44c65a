import { holdValues, moveUnits } from '../../accounts/ledger/ledger-store.ts';
import type { Sql } from '../../db/database.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import { metadataPairs } from '../../rules/search/metadata-pairs.ts';
import type { ClaimedJob, Job } from '../job.ts';
import { NO_RESULT } from '../job.ts';
import { notifyFetchDue, notifyJobDue } from '../notify.ts';
import { insertPairsIf, pairValues } from '../search/metadata-store.ts';

/** A job as a request describes it. */
export type NewJob = Pick<
  Job,
  | 'shard'
  | 'id'
  | 'accountId'
  | 'keyId'
  | 'plan'
  | 'language'
  | 'wordTimes'
  | 'options'
  | 'metadata'
  | 'filename'
  | 'unlimited'
>;

/** The job's audio, which is stored. */
type StoredAudioOfJob = Pick<
  ClaimedJob,
  'format' | 'sizeBytes' | 'tracks' | 'audioKey' | 'audioSource' | 'durationMs' | 'heldUnits'
>;

/** The job's audio, which is to be fetched. */
type AudioToFetch = {
  /** Origin and path of the URL. */
  audioSource: string;
  /** URL and headers, sealed for this job. */
  request: Buffer;
};

type Accepted = Pick<Job, 'createdAt'>;

const NOT_STARTED = {
  ...{ state: 'queued' as const, transcribedUnits: 0, attempts: 0, lease: 0, progress: 0, startedAt: null },
  ...NO_RESULT,
};
/** Of a job whose audio is to be fetched. */
const NO_AUDIO = { format: null, sizeBytes: null, tracks: [], audioKey: null, durationMs: null, heldUnits: 0 };

/** The CTE `job` of a statement that has a CTE `clock (moment)` before it: it inserts a job, if the condition is true. */
const insertJobIf = (condition: string): string => `
      job as (
        insert into jobs
          (shard, id, account_id, key_id, state, plan, language, word_times, options, metadata, filename, format, size_bytes,
           tracks, audio_key, audio_source, duration_ms, unlimited, held_units, next_at, created_at)
        select $shard::smallint, $jobId, $accountId, $keyId, 'queued', $plan, $language, $wordTimes, $options::jsonb, $metadata,
          $filename, $format, $sizeBytes, $tracks::jsonb, $audioKey, $audioSource, $durationMs, $unlimited::boolean, $heldUnits, moment, moment
        from clock
        where ${condition}
        returning created_at
      )`;

// Locks the account's row before the row of its queue, as every other statement does.
const ACCEPT = defineStatement(
  { name: 'accept_job' },
  `
      with clock as (
        select coalesce($now::timestamptz, clock_timestamp()) as moment
      ), ${moveUnits()}, ${insertJobIf('$unlimited or exists (select from moved)')},
      ${insertPairsIf('exists (select from job)')}, counted as (
        insert into job_queues as queue (shard, account_id, waiting)
        select $shard, $accountId, 1
        from job
        on conflict (shard, account_id) do update
        set waiting = queue.waiting + 1
        returning waiting
      )
      select created_at as "createdAt", waiting
      from job
      cross join counted`,
);

const ACCEPT_FETCH = defineStatement(
  { name: 'accept_fetch' },
  `
      with clock as (
        select coalesce($now::timestamptz, clock_timestamp()) as moment
      ), ${insertJobIf('true')}, ${insertPairsIf('true')}, to_fetch as (
        insert into audio_fetches (shard, job_id, account_id, request, next_at, created_at)
        select $shard, $jobId, $accountId, $request, moment, moment
        from clock
      )
      select created_at as "createdAt" from job`,
);

/**
 * Holds a job's cost and inserts the job as the account's last waiting one, in one statement; notifies the transcribers if
 * no other job of the account waits. Null when the balance does not cover the hold.
 */
export async function acceptJob(
  sql: Sql,
  job: NewJob & StoredAudioOfJob,
  now: Date | null = null,
): Promise<Job | null> {
  const { id: jobId, accountId: id, shard, unlimited, heldUnits: units } = job;
  const hold = holdValues({ account: { id, shard, unlimited }, jobId, units });
  const pairs = pairValues(metadataPairs(job.metadata));
  const [options, tracks] = [JSON.stringify(job.options), JSON.stringify(job.tracks)];
  const values = { ...job, ...hold, ...pairs, options, tracks, now };
  const [accepted] = await sql.rows<Accepted & { waiting: number }>(ACCEPT(values));
  if (!accepted) return null;
  const { waiting, createdAt } = accepted;
  // While others wait, the claim that starts the last of them, under the lock of the account's queue, finds this one.
  if (waiting === 1) notifyJobDue(sql, job);
  return { ...job, ...NOT_STARTED, createdAt };
}

/**
 * Inserts a job whose audio is to be fetched and notifies the fetchers, in one statement. Nothing is held: the cost is not
 * known. The job does not count as waiting until its audio is stored.
 */
export async function acceptFetch(sql: Sql, job: NewJob & AudioToFetch, now: Date | null = null): Promise<Job> {
  const pairs = pairValues(metadataPairs(job.metadata));
  const values = {
    ...job,
    ...NO_AUDIO,
    tracks: '[]',
    ...pairs,
    options: JSON.stringify(job.options),
    jobId: job.id,
    now,
  };
  const [accepted] = await sql.rows<Accepted>(ACCEPT_FETCH(values));
  notifyFetchDue(sql);
  const { request: _request, ...given } = job;
  return { ...given, ...NO_AUDIO, ...NOT_STARTED, ...accepted! };
}

/** Gives a queued job other stored audio; false when a transcriber has started the job, or its audio has changed. */
export async function replaceAudio(
  sql: Sql,
  { shard, id, audioKey }: Pick<Job, 'shard' | 'id' | 'audioKey'>,
  freshKey: string,
): Promise<boolean> {
  const replaced = await sql.run({
    name: 'replace_audio',
    text: `
      update jobs
      set audio_key = $4
      where shard = $1 and id = $2 and audio_key = $3 and state = 'queued'`,
    values: [shard, id, audioKey, freshKey],
  });
  return replaced > 0;
}
