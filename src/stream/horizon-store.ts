import type { Sql } from '../db/database.ts';
import { BOUNDS } from '../rules/bounds.ts';

/** How long a transaction is waited for: a stream begins `streamMarginMs` before the horizon. */
const LONGEST_MS = BOUNDS.streamLookBackMs - BOUNDS.streamMarginMs;

/**
 * The time before which no transaction of the service is expected to commit any more rows.
 * @property nowMs    the database's clock
 * @property startMs  the start of the oldest transaction of the service that still runs, at most LONGEST_MS ago;
 *                    `nowMs` when none does
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
        -- A session that handles a notification is idle, and shows the time of its last statement: its LISTEN.
        where datname = current_database() and application_name = 'verbatim' and pid <> pg_backend_pid()
          and state is distinct from 'idle'
      ), moment as (
        select clock_timestamp() as now
      )
      select extract(epoch from now)::float8 * 1000 as "nowMs",
        extract(epoch from least(now, since))::float8 * 1000 as "startMs"
      from moment, running`,
  });
  const { nowMs, startMs } = row!;
  return { nowMs, startMs: Math.max(startMs, nowMs - LONGEST_MS) };
}
