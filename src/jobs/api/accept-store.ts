import { holdValues, moveUnits, UNITS_MOVED } from '../../accounts/ledger/ledger-store.ts';
import type { Sql } from '../../db/database.ts';
import { initialValues, insertColumns, insertValues, type ValuesOf } from '../../db/statements/columns.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import { mayUsePlan, PLANS } from '../../rules/accounts/plan.ts';
import { pairsOf } from '../../rules/search/metadata-pairs.ts';
import { type ClaimedJob, JOB_TABLE, type Job, type NewJob, NO_AUDIO, NO_RESULT } from '../job.ts';
import type { LiveOptions } from '../live/live-store.ts';
import { notifyDue, notifyFetchDue } from '../notify.ts';
import { insertPairsIf, pairValues } from '../search/metadata-store.ts';

/** A job whose audio is stored, as it is inserted. */
type StoredJob = NewJob & Pick<ClaimedJob, keyof typeof NO_AUDIO>;

/** What is stored of a job whose audio is to be fetched: URL and headers, sealed for the job. */
type AudioToFetch = { request: Buffer };

const INSERTED = { ...JOB_TABLE.accepted, ...JOB_TABLE.requested, ...JOB_TABLE.stored, ...JOB_TABLE.source };
const FROM_FILE = initialValues(JOB_TABLE.source);
const NOT_STARTED = { ...initialValues(JOB_TABLE.executed), ...NO_RESULT };

const { names, parameters } = insertColumns(INSERTED);

/**
 * The CTE `job` of a statement that has a CTE `clock (moment)` before it: it inserts a job, if the condition is true.
 * @param nextAt  SQL of when the job is due
 */
const insertJobIf = (condition: string, nextAt = 'moment'): string => `
      job as (
        insert into jobs (${names}, state, next_at, created_at)
        select ${parameters}, 'queued', ${nextAt}, moment
        from clock
        where ${condition}
        returning created_at
      )`;

// The plan of the account may have changed since the request was read.
const PLAN_IS_ALLOWED = 'plan = any($accountPlans::text[])';
const IS_ALLOWED = `exists (select from accounts where shard = $shard and id = $accountId and ${PLAN_IS_ALLOWED})`;
const IS_COVERED = `(${UNITS_MOVED} or ($unlimited and ${IS_ALLOWED}))`;
const HOLD = moveUnits({ moment: '(select moment from clock)', condition: PLAN_IS_ALLOWED });

// Locks the account's row before the row of its queue, as every other statement does.
const ACCEPT = defineStatement(
  { name: 'accept_job' },
  `
      with clock as (
        select coalesce($now::timestamptz, clock_timestamp()) as moment
      ), ${HOLD}, ${insertJobIf(IS_COVERED)},
      ${insertPairsIf('exists (select from job)')}, counted as (
        insert into job_queues as queue (shard, account_id, waiting)
        select $shard, $accountId, 1
        from job
        on conflict (shard, account_id) do update
        set waiting = queue.waiting + 1
      )
      select created_at as "createdAt" from job`,
);

const ACCEPT_FETCH = defineStatement(
  { name: 'accept_fetch' },
  `
      with clock as (
        select coalesce($now::timestamptz, clock_timestamp()) as moment
      ), ${insertJobIf(IS_ALLOWED)}, ${insertPairsIf('exists (select from job)')}, to_fetch as (
        insert into audio_fetches (shard, job_id, account_id, request, next_at, created_at)
        select $shard, $jobId, $accountId, $request, moment, moment
        from clock
        where exists (select from job)
      )
      select created_at as "createdAt" from job`,
);

const CONNECT_BY = `moment + $connectWithinMs * interval '1 millisecond'`;

// Without audio the job does not count as waiting, and no transcriber claims it.
const ACCEPT_LIVE = defineStatement(
  { name: 'accept_live' },
  `
      with clock as (
        select clock_timestamp() as moment
      ), ${HOLD}, ${insertJobIf(IS_COVERED, CONNECT_BY)},
      ${insertPairsIf('exists (select from job)')}, session as (
        insert into live_sessions (shard, job_id, account_id, options, token_hash)
        select $shard, $jobId, $accountId, $liveOptions::jsonb, $tokenHash::bytea
        from job
      )
      select created_at as "createdAt" from job`,
);

/**
 * Holds the cost of the first minute and inserts a job whose audio comes over a live session, with the session. Null
 * when the balance does not cover the hold, or the account's plan does not allow the job's.
 * @param connectWithinMs  the job is due after this time
 */
export async function acceptLive(
  sql: Sql,
  job: StoredJob,
  session: { options: LiveOptions; tokenHash: Buffer | null; connectWithinMs: number },
): Promise<Job | null> {
  const { id: jobId, accountId: id, shard, unlimited, heldUnits: units } = job;
  const hold = holdValues({ account: { id, shard, unlimited }, jobId, units });
  const { options, ...rest } = session;
  const values = { ...jobValues({ ...job, isLive: true }), ...hold, ...rest, liveOptions: JSON.stringify(options) };
  const [accepted] = await sql.rows<{ createdAt: Date }>(ACCEPT_LIVE(values));
  return accepted ? { ...job, isLive: true, ...NOT_STARTED, ...accepted } : null;
}

/**
 * Holds a job's cost and inserts the job as the account's last waiting one, in one statement, and notifies the
 * transcribers. Null when the balance does not cover the hold, or the account's plan does not allow the job's.
 */
export async function acceptJob(sql: Sql, job: StoredJob, now: Date | null = null): Promise<Job | null> {
  const { id: jobId, accountId: id, shard, unlimited, heldUnits: units } = job;
  const hold = holdValues({ account: { id, shard, unlimited }, jobId, units });
  const [accepted] = await sql.rows<{ createdAt: Date }>(
    ACCEPT({ ...jobValues({ ...job, ...FROM_FILE }), ...hold, now }),
  );
  if (!accepted) return null;
  notifyDue(sql);
  return { ...job, ...FROM_FILE, ...NOT_STARTED, ...accepted };
}

/**
 * Inserts a job whose audio is to be fetched and notifies the fetchers, in one statement. Nothing is held: the cost is
 * not known. The job does not count as waiting until its audio is stored. Null when the account's plan does not allow
 * the job's.
 */
export async function acceptFetch(
  sql: Sql,
  { request, ...given }: NewJob & AudioToFetch,
  now: Date | null = null,
): Promise<Job | null> {
  const job = { ...given, ...NO_AUDIO, ...FROM_FILE };
  const [accepted] = await sql.rows<{ createdAt: Date }>(ACCEPT_FETCH({ ...jobValues(job), request, now }));
  if (!accepted) return null;
  notifyFetchDue(sql);
  return { ...job, ...NOT_STARTED, ...accepted };
}

/** The values of `insertJobIf` and `insertPairsIf`. */
function jobValues(job: ValuesOf<typeof INSERTED>) {
  const accountPlans = PLANS.filter((plan) => mayUsePlan(plan, job.plan));
  return { ...insertValues(INSERTED, job), jobId: job.id, accountPlans, ...pairValues(pairsOf(job)) };
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
