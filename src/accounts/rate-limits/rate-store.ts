import type { RateLimit } from '../../config/values.ts';
import type { Sql } from '../../db/database.ts';
import type { Bucket } from '../../http/route.ts';
import type { Account } from '../account.ts';

type Admission =
  | { kind: 'admitted'; remaining: number; resetSeconds: number }
  | { kind: 'refused'; retryAfterSeconds: number; retryAfterMs: number };

/**
 * Admits a request, or returns when one will be admitted: at most `limit.count` in any span of `limit.windowMs`, over all
 * nodes. Refused requests are not stored, so they delay no later request.
 * @param now  null for the database's clock, which all nodes share
 */
export async function admit(
  sql: Sql,
  request: {
    account: Pick<Account, 'id' | 'shard'>;
    bucket: Bucket;
    limit: NonNullable<RateLimit>;
    now?: Date | null;
  },
): Promise<Admission> {
  const values = [
    request.account.shard,
    request.account.id,
    request.bucket,
    request.limit.count,
    request.limit.windowMs,
    request.now ?? null,
  ];
  const admitted = await enterWindow(sql, values);
  if (!admitted) return { kind: 'refused', ...(await readWait(sql, values)) };
  return {
    kind: 'admitted',
    remaining: Math.max(0, request.limit.count - admitted.used),
    resetSeconds: wholeSeconds(admitted.resetMs),
  };
}

/**
 * The row lock serialises requests; the condition and the new value are computed under the lock, from a clock read there.
 * Times more than a window ahead were written before the clock was set back: they are dropped.
 */
async function enterWindow(sql: Sql, values: unknown[]): Promise<{ used: number; resetMs: number } | null> {
  const rows = await sql.rows<{ used: number; resetMs: number }>({
    name: 'enter_rate_window',
    isBrief: true,
    text: `
      insert into rate_windows as rate (shard, account_id, bucket, admitted)
      values ($1, $2, $3, array[coalesce($6::timestamptz, clock_timestamp())])
      on conflict (shard, account_id, bucket) do update
      set admitted = (
        select coalesce(array_agg(admitted_at order by admitted_at) filter (where admitted_at is not null), '{}') || clock.now
        from (select coalesce($6::timestamptz, clock_timestamp()) as now where rate.shard = $1) as clock
        left join unnest(rate.admitted) as admitted_at
          on admitted_at > clock.now - $5::float8 * interval '1 ms' and admitted_at <= clock.now + $5::float8 * interval '1 ms'
        group by clock.now
      )
      where $4::int > (
        select count(admitted_at)
        from (select coalesce($6::timestamptz, clock_timestamp()) as now where rate.shard = $1) as clock,
          unnest(rate.admitted) as admitted_at
        where admitted_at > clock.now - $5::float8 * interval '1 ms' and admitted_at <= clock.now + $5::float8 * interval '1 ms'
      )
      returning
        cardinality(admitted) as used,
        $5::float8 - 1000 * extract(epoch from admitted[cardinality(admitted)] - admitted[1])::float8 as "resetMs"`,
    values,
  });
  return rows[0] ?? null;
}

/** Time until the blocking request leaves the window: the one after which `count - 1` are left. */
async function readWait(sql: Sql, values: unknown[]): Promise<{ retryAfterSeconds: number; retryAfterMs: number }> {
  const [row] = await sql.rows<{ waitMs: number | null }>({
    name: 'read_rate_wait',
    isBrief: true,
    text: `
      select $5::float8 + 1000 * extract(epoch from
        admitted[cardinality(admitted) - $4::int + 1] - coalesce($6::timestamptz, clock_timestamp()))::float8 as "waitMs"
      from rate_windows
      where shard = $1 and account_id = $2 and bucket = $3`,
    values,
  });
  const waitMs = Math.max(0, row?.waitMs ?? 0);
  return { retryAfterMs: waitMs, retryAfterSeconds: wholeSeconds(waitMs) };
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
