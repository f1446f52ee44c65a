import type { Database, Sql } from '../../db/database.ts';
import { dayOfName, type LogDay } from '../../rules/webhooks/log-day.ts';

/** `busy`: a lock was not acquired in time, and nothing was changed; try again later. */
export type DayChange = 'done' | 'already' | 'busy' | 'too full';

// How long a change of partitions waits for its lock. All later queries on the log wait behind it.
const LOCK_WAIT_MS = 200;
// Rows that making a day moves out of the default partition, under its lock. More stay in the default
// partition: reads find them there, and retention deletes them row by row.
const MAX_MOVED = 10_000;

/** The days that have a partition, oldest first. */
export async function listDays(sql: Sql): Promise<LogDay[]> {
  const rows = await sql.rows<{ name: string }>({
    text: `
      -- every shard: the catalogue of tables
      select c.relname as name
      from pg_inherits i
      join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'attempts'::regclass
      order by c.relname`,
  });
  return rows.map(({ name }) => dayOfName(name)).filter((day) => day !== null);
}

/** The current time for retention: the database's, or `now` of a test. */
export async function readNow(sql: Sql, now: Date | null): Promise<Date> {
  const text = `select coalesce($1::timestamptz, clock_timestamp()) as now`;
  const [row] = await sql.rows<{ now: Date }>({ text, values: [now] });
  return row!.now;
}

/**
 * Gives a day its partition, and moves there what the default partition holds of it. `attach` instead of
 * `create … partition of`, which would stop everybody who reads or writes the log; only the default one is locked.
 */
export async function makeDay(db: Database, day: LogDay): Promise<DayChange> {
  return await changeDays(db, async (tx) => {
    if (await exists(tx, day)) return 'already';
    await tx.run({ text: `lock table only attempts_default in access exclusive mode` });
    if ((await countInDefault(tx, day)) > MAX_MOVED) return 'too full';
    await tx.run({ text: `create table ${day.name} (like attempts including all)` });
    await tx.run({
      text: `with moved as (
          delete from attempts_default
          where created_at >= $1 and created_at < $2
          returning *
        )
        -- every shard: the rows of a day
        insert into ${day.name} select * from moved`,
      values: [day.from, day.to],
    });
    await tx.run({
      text: `alter table attempts attach partition ${day.name}
        for values from ('${day.from.toISOString()}') to ('${day.to.toISOString()}')`,
    });
    return 'done';
  });
}

/**
 * Drops a day's partition with all that is in it. That locks the whole log, because a default partition forbids
 * `detach … concurrently`; but only for the moment of the commit, and the files go after it.
 */
export async function dropDay(db: Database, day: LogDay): Promise<DayChange> {
  return await changeDays(db, async (tx) => {
    if (!(await exists(tx, day))) return 'already';
    await tx.run({ text: `drop table ${day.name}` });
    return 'done';
  });
}

/** One change at a time over all nodes, in a transaction that gives up rather than wait. */
async function changeDays(db: Database, change: (tx: Sql) => Promise<DayChange>): Promise<DayChange> {
  try {
    return await db.transaction(async (tx) => {
      await tx.run({ text: `set local lock_timeout = ${LOCK_WAIT_MS}` });
      await tx.run({ text: `lock table only attempts in share update exclusive mode` });
      return await change(tx);
    });
  } catch (error) {
    // lock_not_available
    if ((error as { code?: unknown }).code === '55P03') return 'busy';
    throw error;
  }
}

async function exists(tx: Sql, { name }: LogDay): Promise<boolean> {
  const [row] = await tx.rows<{ found: boolean }>({
    text: `select to_regclass($1) is not null as found`,
    values: [name],
  });
  return row!.found;
}

async function countInDefault(tx: Sql, { from, to }: LogDay): Promise<number> {
  const [row] = await tx.rows<{ number: number }>({
    text: `
      -- every shard: the rows of a day
      select count(*) as number
      from (select 1 from attempts_default where created_at >= $1 and created_at < $2 limit $3) counted`,
    values: [from, to, MAX_MOVED + 1],
  });
  return row!.number;
}
