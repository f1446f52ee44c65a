import type { RateLimit } from '../../config/values.ts';
import type { Sql } from '../../db/database.ts';
import type { Bucket } from '../../http/route.ts';
import type { Account } from '../account.ts';

type Admission =
  | { kind: 'admitted'; remaining: number; resetSeconds: number }
  | { kind: 'refused'; retryAfterSeconds: number; retryAfterMs: number };

/**
 * Admits a request, or returns when one will be admitted: at most `limit.count` in any span of `limit.windowMs`, over
 * all nodes. Refused requests are not stored, so they delay no later request.
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
  const entry = (await enterWindow(sql, values)) ?? (await createWindow(sql, values));
  if (entry.used === null) {
    const waitMs = Math.max(0, entry.waitMs);
    return { kind: 'refused', retryAfterMs: waitMs, retryAfterSeconds: wholeSeconds(waitMs) };
  }
  return {
    kind: 'admitted',
    remaining: Math.max(0, request.limit.count - entry.used),
    resetSeconds: wholeSeconds(entry.resetMs),
  };
}

/** `waitMs` is the time until the blocking request leaves the window: the one after which `count - 1` are left. */
type Entry = { used: number; resetMs: number } | { used: null; waitMs: number };

const WINDOW = "$5::float8 * interval '1 ms'";

/**
 * Null when the account has no window yet. The row lock serialises requests; `clock` is read under the lock. Times more
 * than a window ahead were written before the clock was set back: they are dropped. After a smaller step back the new
 * time is that of the request before.
 */
async function enterWindow(sql: Sql, values: unknown[]): Promise<Entry | null> {
  const rows = await sql.rows<Entry & { isStored: boolean }>({
    name: 'enter_rate_window',
    text: `
      with stored as (
        select admitted
        from rate_windows
        where shard = $1 and account_id = $2 and bucket = $3
        for update
      ), clock as (
        select coalesce($6::timestamptz, clock_timestamp()) as now, is_stored
        from (select count(*) > 0 as is_stored from stored) as locked
      ), kept as (
        select clock.now, clock.is_stored,
          -- The times are in order: the ends of the window are found by binary search.
          coalesce(admitted[1 + width_bucket(now - ${WINDOW}, admitted) : width_bucket(now + ${WINDOW}, admitted)], '{}')
            as admitted
        from clock
        left join stored on true
      ), entered as (
        update rate_windows
        set admitted = (select admitted || greatest(now, admitted[cardinality(admitted)]) from kept)
        where shard = $1 and account_id = $2 and bucket = $3 and $4::int > (select cardinality(admitted) from kept)
        returning admitted
      )
      select kept.is_stored as "isStored",
        cardinality(entered.admitted) as used,
        $5::float8 - 1000 * extract(epoch from entered.admitted[cardinality(entered.admitted)] - entered.admitted[1])::float8
          as "resetMs",
        $5::float8 + 1000 * extract(epoch from kept.admitted[cardinality(kept.admitted) - $4::int + 1] - kept.now)::float8
          as "waitMs"
      from kept
      left join entered on true`,
    values,
  });
  const { isStored, ...entry } = rows[0]!;
  return isStored ? entry : null;
}

async function createWindow(sql: Sql, values: unknown[]): Promise<Entry> {
  await sql.run({
    text: `insert into rate_windows (shard, account_id, bucket, admitted) values ($1, $2, $3, '{}') on conflict do nothing`,
    values: values.slice(0, 3),
  });
  return (await enterWindow(sql, values))!;
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

/** Deletes the windows of an account, of which there are few. Returns how many. */
export async function deleteWindowsOf(sql: Sql, { shard, id }: { shard: number; id: string }): Promise<number> {
  return await sql.run({
    text: 'delete from rate_windows where shard = $1 and account_id = $2',
    values: [shard, id],
  });
}
