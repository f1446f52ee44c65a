import type { Sql } from '../../src/db/database.ts';

/**
 * All that a schema consists of, a line each, sorted: columns with type, default, storage and statistics; indexes,
 * constraints, and settings of tables. The order of the columns does not count.
 */
export async function readCatalogue(sql: Sql): Promise<string[]> {
  const rows = await sql.rows<{ line: string }>({ text: CATALOGUE });
  return rows.map(({ line }) => line).sort();
}

const CATALOGUE = `
  with tables as (
    select oid, relname, relkind, relreplident, reloptions
    from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
  )
  select concat_ws(' ', 'table', relname, relkind, relreplident, reloptions) as line
  from tables
  union all
  select concat_ws(' ', 'column', t.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
    pg_get_expr(d.adbin, d.adrelid), a.attstorage, coalesce(a.attstattarget, -1))
  from tables t
  join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
  union all
  select concat_ws(' ', 'index', pg_get_indexdef(i.indexrelid), i.indisvalid, c.reloptions)
  from tables t
  join pg_index i on i.indrelid = t.oid
  join pg_class c on c.oid = i.indexrelid
  union all
  select concat_ws(' ', 'constraint', t.relname, c.conname, pg_get_constraintdef(c.oid), c.convalidated)
  from tables t
  join pg_constraint c on c.conrelid = t.oid`;
