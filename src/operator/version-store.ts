import type { Sql } from '../db/database.ts';

/** The release of the server, such as 18.7, without what its packager adds. */
export async function readServerVersion(sql: Sql): Promise<string> {
  const [row] = await sql.rows<{ version: string }>({
    text: `select current_setting('server_version') as version`,
    values: [],
  });
  return row!.version.split(' ')[0]!;
}
