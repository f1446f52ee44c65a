import { createHash } from 'node:crypto';
import type { Sql } from '../database.ts';
import { UnusableDatabaseError } from '../unusable-database-error.ts';
import type { Migration } from './migrations.ts';

/**
 * Until release 0.2.0, 0001_initial.sql was edited in place. This is the one of its earlier states whose data this
 * release starts with, told apart by its columns and indexes: its last one, which the migration still makes.
 */
const EARLIER = {
  commit: '143cffd1',
  fingerprint: '2b2e4076d4a896c3e32a21383eeaa1ffc70a7cb481f16693b8bed7c127e6c7bd',
};

/**
 * Checks that a database without hashes of its migrations has the schema of the first one.
 * @throws UnusableDatabaseError  if it has another
 */
export async function requireKnownSchema(tx: Sql, initial: Migration): Promise<void> {
  if ((await fingerprintOf(tx, initial)) === EARLIER.fingerprint) return;
  throw new UnusableDatabaseError(
    'The database has a schema that this release does not know: that of a commit before 0.2.0 other than ' +
      `${EARLIER.commit}. Start the commit that made it, or a new database.`,
  );
}

/** SHA-256 of the columns and indexes of the first migration's tables. Other tables in the schema do not count. */
async function fingerprintOf(tx: Sql, initial: Migration): Promise<string> {
  const tables = [...initial.sql.matchAll(/^create table (\w+)/gm)].map(([, name]) => name);
  const rows = await tx.rows<{ line: string }>({
    text: `
      -- every shard: the catalogue of tables
      with tables as (
        select oid, relname
        from pg_class
        where relnamespace = current_schema()::regnamespace and relname = any($1) and not relispartition
      )
      select concat_ws(' ', t.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull) as line
      from tables t
      join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
      union all
      select concat_ws(' ', t.relname, i.indexrelid::regclass, i.indisunique, pg_get_expr(i.indpred, i.indrelid))
      from tables t
      join pg_index i on i.indrelid = t.oid`,
    values: [tables],
  });
  const lines = rows.map(({ line }) => line).sort();
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}
