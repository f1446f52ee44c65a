import type { Sql } from '../../db/database.ts';
import type { BucketGrid } from '../../rules/webhooks/time-buckets.ts';
import { firstIdFrom, type LogPlace } from './log-store.ts';

/**
 * Entries of a bucket that ended alike. `number`: of the bucket, from 1;
 * 0: before the first; one more than the last: after it.
 */
type EndedAlike = {
  number: number;
  status: 'succeeded' | 'failed' | 'dropped';
  reason: string | null;
  entries: number;
};

export type LogFigures = {
  ended: EndedAlike[];
  /** Percentiles of the durations in ms, of the buckets with attempts made. */
  durations: { number: number; p50: number; p95: number }[];
  /** How many entries began to wait in each bucket: those that have ended, and those that still wait. */
  begun: { number: number; entries: number }[];
  /** Entries that were created before were not read, as there are too many; null: all were. */
  readFromMs: number | null;
};

/** How far before the first bucket entries are read that may have ended in it. */
export type LookBack = { firstAttemptsMs: number; retriesMs: number };

// Of first attempts, of retries and of waiting deliveries each: more than a day of 10 jobs a minute, in about 0.1 s.
const MAX_ENTRIES = 25_000;

/**
 * Figures about a webhook's log. An entry counts in the bucket in which it ended. Of more than 25,000 first attempts or
 * retries the newest are read.
 */
export async function readLogFigures(
  sql: Sql,
  { shard, webhookId }: LogPlace,
  { grid, lookBack, maxEntries = MAX_ENTRIES }: { grid: BucketGrid; lookBack: LookBack; maxEntries?: number },
): Promise<LogFigures> {
  const { fromMs, bucketMs, count } = grid;
  const toMs = fromMs + count * bucketMs;
  const [firstsFrom, retriesFrom] = [fromMs - lookBack.firstAttemptsMs, fromMs - lookBack.retriesMs];
  const edges = Array.from({ length: count }, (_, index) => firstIdFrom(new Date(fromMs + index * bucketMs)));
  const [row] = await sql.rows<{ [Name in keyof LogFigures]: LogFigures[Name] | null }>({
    text: FIGURES,
    values: [
      ...[shard, webhookId, firstIdFrom(new Date(toMs)), new Date(toMs), maxEntries],
      ...[firstIdFrom(new Date(firstsFrom)), new Date(firstsFrom)],
      ...[firstIdFrom(new Date(retriesFrom)), new Date(retriesFrom)],
      ...[fromMs, toMs, count, edges],
    ],
  });
  const { ended, durations, begun, readFromMs } = row!;
  return { ended: ended ?? [], durations: durations ?? [], begun: begun ?? [], readFromMs };
}

const BUCKET_OF = (time: string) =>
  `width_bucket((extract(epoch from ${time}) * 1000)::float8, $10::float8, $11::float8, $12::int)`;

const COLUMNS = 'created_at, completed_at, status, error_reason, duration_ms';

const FIGURES = `
  with firsts as materialized (
    select ${COLUMNS}
    from attempts
    where shard = $1 and webhook_id = $2 and attempt = 1
      and id >= $6 and id < $3 and created_at >= $7 and created_at < $4
    order by id desc
    limit $5
  ),
  -- By the index attempts_unusual.
  retries as materialized (
    select ${COLUMNS}
    from attempts
    where shard = $1 and webhook_id = $2 and attempt > 1
      and id >= $8 and id < $3 and created_at >= $9 and created_at < $4
    order by id desc
    limit $5
  ),
  entries as materialized (
    select * from firsts
    union all
    select * from retries
  ),
  waiting as materialized (
    select attempt_id
    from deliveries
    where shard = $1 and attempt_id > '' and webhook_id || '' = $2 and attempt_id < $3
    order by attempt_id desc
    limit $5
  ),
  begun as (
    select ${BUCKET_OF('created_at')} as number
    from entries
    union all
    select width_bucket(attempt_id, $13::text[])
    from waiting
  )
  select
    (
      select json_agg(e)
      from (
        select ${BUCKET_OF('completed_at')} as number, status, error_reason as reason, count(*) as entries
        from entries
        group by 1, 2, 3
      ) e
    ) as ended,
    (
      select json_agg(d)
      from (
        select ${BUCKET_OF('completed_at')} as number,
          percentile_cont(0.5) within group (order by duration_ms) as p50,
          percentile_cont(0.95) within group (order by duration_ms) as p95
        from entries
        where duration_ms is not null
        group by 1
      ) d
    ) as durations,
    (
      select json_agg(b)
      from (
        select number, count(*) as entries
        from begun
        group by 1
      ) b
    ) as begun,
    (
      select (extract(epoch from max(oldest)) * 1000)::float8
      from (
        select min(created_at) as oldest from firsts having count(*) = $5
        union all
        select min(created_at) from retries having count(*) = $5
      ) cut
    ) as "readFromMs"`;
