import type { Sql } from '../db/database.ts';

/**
 * The time before which no transaction of the service can commit any more rows.
 * @property nowMs    the database's clock
 * @property startMs  the start of the oldest transaction of the service that still runs; `nowMs` when none does
 */
export type Horizon = { nowMs: number; startMs: number };

/**
 * Reads the horizon. A reader that follows a table by a time column, which each transaction sets to a time after its
 * own start, misses no row when it reads again from the horizon of its last read: rows become visible in the order of
 * the commits, not of their times.
 */
export async function readHorizon(sql: Sql): Promise<Horizon> {
  const [row] = await sql.rows<Horizon>({
    name: 'read_horizon',
    isBrief: true,
    text: `
      with running as (
        select min(xact_start) as since
        from pg_stat_activity
        where datname = current_database() and application_name = 'verbatim' and pid <> pg_backend_pid()
      ), moment as (
        select clock_timestamp() as now
      )
      select extract(epoch from now)::float8 * 1000 as "nowMs",
        extract(epoch from least(now, since))::float8 * 1000 as "startMs"
      from moment, running`,
  });
  return row!;
}
