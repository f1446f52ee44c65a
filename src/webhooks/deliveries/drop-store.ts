import type { Sql } from '../../db/database.ts';
import { timeOfId } from '../../rules/ids.ts';

// Limits how long a statement holds its locks.
const DROP_LIMIT = 1_000;

/** A waiting delivery to drop. */
type Waiting = { id: string; eventId: string; attemptId: string; url: string | null };

/**
 * Which deliveries may be dropped. Only the owner of a shard knows which of them are being sent:
 * `owner`: all but those in flight, while the shard has this epoch.
 * `others`: those that are not due yet; all, while the shard has no owner.
 * `all`: those in flight too. Their results are only logged, see recording/dropped-attempt-store.ts.
 */
type Allowed = { by: 'owner'; epoch: number; inFlight: string[] } | { by: 'others' } | { by: 'all' };

/**
 * Drops and logs the waiting deliveries of a webhook that is disabled or deleted, in several statements. After a crash,
 * the owner of the shard drops the rest when it is due.
 */
export async function dropWaiting(
  sql: Sql,
  { shard, webhookId, url, allowed }: { shard: number; webhookId: string; url: string; allowed: Allowed },
): Promise<void> {
  for (let dropped = DROP_LIMIT; dropped === DROP_LIMIT; ) {
    const waiting = await sql.rows<Waiting>({
      name: 'find-deliveries-to-drop',
      text: `select id, event_id as "eventId", attempt_id as "attemptId", $4::text as url
        from deliveries
        where shard = $1 and webhook_id > '' and webhook_id = $2 and id <> all($3::text[])
        order by webhook_id, next_at desc
        limit $5`,
      values: [shard, webhookId, allowed.by === 'owner' ? allowed.inFlight : [], url, DROP_LIMIT],
    });
    dropped = await drop(sql, { shard, waiting, allowed });
  }
}

/** Drops all waiting deliveries of a job's events, in the transaction that erases the job. */
export async function dropWaitingOfJob(tx: Sql, { shard, jobId }: { shard: number; jobId: string }): Promise<void> {
  const waiting = await tx.rows<Waiting>({
    text: `select d.id, d.event_id as "eventId", d.attempt_id as "attemptId", w.url
      from events e
      join deliveries d on d.shard = $1 and d.event_id > '' and d.event_id = e.id
      left join webhooks w on w.shard = $1 and w.id = d.webhook_id
      where e.shard = $1 and e.job_id = $2`,
    values: [shard, jobId],
  });
  await drop(tx, { shard, waiting, allowed: { by: 'all' } });
  for (const eventId of new Set(waiting.map((delivery) => delivery.eventId))) tx.notify('event_erased', eventId);
}

/** Those of the jobs that have a waiting delivery. */
export async function findJobsWithDeliveries(
  sql: Sql,
  { shard, jobIds }: { shard: number; jobIds: string[] },
): Promise<Set<string>> {
  if (jobIds.length === 0) return new Set();
  const rows = await sql.rows<{ jobId: string }>({
    text: `select distinct e.job_id as "jobId"
      from events e
      join deliveries d on d.shard = $1 and d.event_id > '' and d.event_id = e.id
      where e.shard = $1 and e.job_id = any($2::text[])`,
    values: [shard, jobIds],
  });
  return new Set(rows.map(({ jobId }) => jobId));
}

/** Returns how many were dropped. */
async function drop(
  sql: Sql,
  { shard, waiting, allowed }: { shard: number; waiting: Waiting[]; allowed: Allowed },
): Promise<number> {
  if (waiting.length === 0) return 0;
  const column = <Name extends keyof Waiting>(name: Name) => waiting.map((delivery) => delivery[name]);
  return await sql.run({
    name: 'drop-deliveries',
    text: `with clock as materialized (
        select clock_timestamp() as moment
      ),
      fence as materialized (
        select shard
        from delivery_shards
        where shard = $1 and case when $2::bigint is null then owner is null else epoch = $2 end
        for share
      ),
      gone as (
        delete from deliveries d
        -- Arrays, not a join: see recording/success-store.ts.
        where d.shard = $1 and d.event_id > '' and d.event_id = any($4::text[]) and d.attempt_id = any($5::text[])
          and (
            $3
            or exists (select from fence)
            -- Deliverers hold those that are due within a second.
            or ($2 is null and d.next_at > (select moment from clock) + interval '2 seconds')
          )
          -- When the webhook was enabled again meanwhile, its deliveries are newer.
          and ($3 or not exists (select from webhooks a where a.shard = $1 and a.id = d.webhook_id and a.active))
        returning d.*
      )
      -- By position, not by a join: PostgreSQL with Citus 13.2 crashes when it joins these rows with unnest.
      insert into attempts (shard, id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt,
        status, created_at, completed_at)
      select g.shard, g.attempt_id, g.account_id, g.webhook_id, g.event_id, g.event_type, g.id,
        coalesce(($6::text[])[array_position($5::text[], g.attempt_id)], ''), g.attempt, 'dropped',
        ($7::timestamptz[])[array_position($5::text[], g.attempt_id)], (select moment from clock)
      from gone g`,
    values: [
      shard,
      allowed.by === 'owner' ? allowed.epoch : null,
      allowed.by === 'all',
      column('eventId'),
      column('attemptId'),
      column('url'),
      waiting.map((delivery) => new Date(timeOfId(delivery.attemptId))),
    ],
  });
}
