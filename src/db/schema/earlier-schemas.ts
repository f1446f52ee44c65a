import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../platform/installation.ts';
import type { Sql } from '../database.ts';
import { UnusableDatabaseError } from '../unusable-database-error.ts';
import type { Migration } from './migrations.ts';

/**
 * Until release 0.2.0, 0001_initial.sql was edited in place. These three of its states hold data of somebody, oldest
 * first. They are told apart by their columns and indexes; each has a script that makes the next one of it.
 */
const EARLIER: { commit: string; fingerprint: string; script: string | null }[] = [
  {
    commit: '6a991e1',
    fingerprint: 'c453cd605ba4405b60f557ccfa42d41fd7f8e7c5fa8f25a9317c8e89f3f38526',
    script: '6a991e1.sql',
  },
  {
    commit: 'f05a923',
    fingerprint: '4858efd4bc3c24cdef9912f625894415473ece284c389f619663fda4c4cf0bd0',
    script: 'f05a923.sql',
  },
  { commit: '143cffd1', fingerprint: '2b2e4076d4a896c3e32a21383eeaa1ffc70a7cb481f16693b8bed7c127e6c7bd', script: null },
];

const FOLDER = path.join(ROOT, 'src/db/schema/earlier');

/**
 * The scripts, in order, that bring a database without hashes of its migrations to the schema of the first migration.
 * @throws UnusableDatabaseError  if its schema is none that is known
 */
export async function earlierScripts(tx: Sql, initial: Migration): Promise<string[]> {
  const fingerprint = await fingerprintOf(tx, initial);
  const at = EARLIER.findIndex((earlier) => earlier.fingerprint === fingerprint);
  if (at < 0) {
    throw new UnusableDatabaseError(
      `The database has a schema that this release does not know: that of a commit before 0.2.0 other than ` +
        `${EARLIER.map(({ commit }) => commit).join(', ')}. Start the commit that made it, or a new database.`,
    );
  }
  const scripts = EARLIER.slice(at).flatMap(({ script }) => script ?? []);
  return scripts.map((name) => readFileSync(path.join(FOLDER, name), 'utf8'));
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
