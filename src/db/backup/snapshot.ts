import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { connectionOptions, DatabaseClient } from '../connection.ts';
import type { Header } from './contents.ts';

/** One consistent state of a database: a transaction in which all reads see the same rows, whatever others write. */
export type Snapshot = AsyncDisposable & {
  client: pg.Client;
  takenAt: string;
  tables: Header['tables'];
  partitions: Header['partitions'];
};

// Whole rows in each: a part is loaded by a statement of its own.
const PART_BYTES = 4 * 1024 * 1024;
const NEWLINE = 0x0a;

/** Of a connection that reads or writes a backup: no timeout, and values as text that every database reads alike. */
export const SESSION =
  "set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set datestyle = 'ISO, YMD'; set timezone = 'UTC'; set intervalstyle = 'postgres'";

/** Begins the transaction, on a connection of its own, and lists the tables. */
export async function openSnapshot(url: string): Promise<Snapshot> {
  const client = new DatabaseClient(connectionOptions(url, { application_name: 'verbatim backup' }));
  await client.connect();
  try {
    await client.query(`${SESSION}; begin isolation level repeatable read read only`);
    const { rows: tables } = await client.query<Header['tables'][number]>(TABLES);
    const { rows: partitions } = await client.query<Header['partitions'][number]>(PARTITIONS);
    const { rows: clock } = await client.query<{ now: Date }>('select clock_timestamp() as now');
    return {
      client,
      takenAt: clock[0]!.now.toISOString(),
      tables,
      partitions,
      [Symbol.asyncDispose]: () => client.end(),
    };
  } catch (cause) {
    await client.end();
    throw cause;
  }
}

/** The rows of a table in the text format of COPY, in parts of about 4 MiB, with the number of rows in each. */
export async function* copyOut(
  { client }: Pick<Snapshot, 'client'>,
  { name, columns }: Header['tables'][number],
): AsyncIterable<{ part: Buffer; rows: number }> {
  // A subquery: a distributed or partitioned table is read through its parent.
  const stream = client.query(copyTo(`copy (select ${columns.map(quoted).join(', ')} from ${quoted(name)}) to stdout`));
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    // A newline in a value is written as \n.
    if (bytes < PART_BYTES || chunk.at(-1) !== NEWLINE) continue;
    yield counted(chunks);
    [chunks, bytes] = [[], 0];
  }
  if (bytes > 0) yield counted(chunks);
}

/** The values of one column, without nulls. */
export async function readColumn(
  { client }: Pick<Snapshot, 'client'>,
  table: string,
  column: string,
): Promise<string[]> {
  const { rows } = await client.query<{ value: string }>(
    `select ${quoted(column)} as value from ${quoted(table)} where ${quoted(column)} is not null`,
  );
  return rows.map(({ value }) => value);
}

/** The name of a table or column in a statement. */
export function quoted(name: string): string {
  return pg.escapeIdentifier(name);
}

function counted(chunks: Buffer[]): { part: Buffer; rows: number } {
  const part = Buffer.concat(chunks);
  let rows = 0;
  for (let at = part.indexOf(NEWLINE); at >= 0; at = part.indexOf(NEWLINE, at + 1)) rows++;
  return { part, rows };
}

// Those with foreign keys to them first. Tables of extensions, such as PostGIS, are not the service's.
const TABLES = `
  select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname <> 'schema_versions'
    and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
  group by c.relname
  order by case c.relname when 'users' then 0 when 'api_keys' then 1 else 2 end, c.relname`;

const PARTITIONS = `
  select c.relname as name, p.relname as parent, pg_get_expr(c.relpartbound, c.oid) as bound
  from pg_inherits i
  join pg_class c on c.oid = i.inhrelid
  join pg_class p on p.oid = i.inhparent and p.relkind = 'p'
  where c.relnamespace = current_schema()::regnamespace and pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT'
  order by c.relname`;
