import type { Sql } from '../../src/db/database.ts';

/**
 * The rows of all tables as statements that load them into a database with the same schema, one table a line. Bytes are
 * hex digits, so that a diff of two dumps can be read.
 */
export async function dumpTables(sql: Sql): Promise<string> {
  const tables = await sql.rows<{ name: string }>({
    text: `
      select relname as name
      from pg_class
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      order by case relname when 'users' then 0 when 'api_keys' then 1 else 2 end, relname`,
  });
  const lines: string[] = [];
  for (const { name } of tables) {
    const [rows] = await sql.rows<{ json: string | null }>({ text: `select json_agg(t)::text as json from ${name} t` });
    if (rows!.json === null) continue;
    const json = rows!.json.replaceAll('\n', '').replaceAll("'", "''");
    lines.push(`insert into ${name} select * from json_populate_recordset(null::${name}, '${json}');`);
  }
  return ['delete from delivery_shards;', ...lines, ''].join('\n');
}
