import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { dayOfName } from '../../rules/webhooks/log-day.ts';
import { connectionOptions, DatabaseClient } from '../connection.ts';
import type { Database, Sql, Statement } from '../database.ts';
import { migrate } from '../schema/migrate.ts';
import { hashOf, readMigrations } from '../schema/migrations.ts';
import { prepareVersions } from '../schema/versions.ts';
import type { ArchiveFile } from './archive-reader.ts';
import { BackupError, type Header, NAMES } from './contents.ts';
import {
  MARKER,
  markLoaded,
  markLoading,
  type RestoreState,
  readRestoreState,
  removeMarker,
} from './restore-marker.ts';
import { quoted, SESSION } from './snapshot.ts';

/**
 * Loads the rows of a backup into an empty database, and brings its schema to this release, in one transaction. From
 * `mark` until `finish`, a table says that the restore has not ended.
 */
export class RowLoader {
  /** What an earlier restore has done to the database. */
  readonly state: RestoreState;
  readonly #client: pg.Client;
  readonly #sql: Sql;
  readonly #columns = new Map<string, string[]>();

  private constructor(client: pg.Client, state: RestoreState) {
    this.#client = client;
    this.#sql = sqlOf(client);
    this.state = state;
  }

  /** @throws BackupError  if the database has tables that no unfinished restore made, or another restore is at work */
  static async open(url: string): Promise<RowLoader> {
    const client = new DatabaseClient(connectionOptions(url, { application_name: 'verbatim restore' }));
    // A lost connection makes the next statement fail.
    client.on('error', () => undefined);
    await client.connect();
    try {
      await client.query(SESSION);
      const { rows: locks } = await client.query(`select pg_try_advisory_lock(hashtextextended($1, 0)) as "isOurs"`, [
        MARKER,
      ]);
      if (!locks[0].isOurs) throw new BackupError('Another restore into the database is at work. Wait for its end.');
      const state = await readRestoreState(sqlOf(client));
      if (typeof state === 'string') await requireEmpty(client);
      return new RowLoader(client, state);
    } catch (cause) {
      await client.end().catch(() => undefined);
      throw cause;
    }
  }

  /** From here on, a service refuses the database. */
  async mark(): Promise<void> {
    await markLoading(this.#sql);
  }

  /**
   * Makes the schema that the rows were written with, from the migrations that this release has.
   * @throws BackupError  if this release does not have them, or the header names tables that they do not make
   */
  async begin(header: Header): Promise<void> {
    const migrations = header.migrations.map((row) => ({ ...row, sql: sqlOfMigration(row, header.release) }));
    await this.#client.query('begin');
    await prepareVersions(this.#sql);
    for (const { version, name, sha256, release, sql } of migrations) {
      await this.#client.query(sql);
      await this.#client.query('insert into schema_versions (version, name, sha256, release) values ($1, $2, $3, $4)', [
        version,
        name,
        sha256,
        release,
      ]);
    }
    for (const partition of header.partitions) await this.#client.query(partitionOf(partition));
    await this.#requireTables(header.tables);
    for (const { name, columns } of header.tables) {
      this.#columns.set(name, columns);
      // Migrations insert rows too.
      await this.#client.query(`delete from ${quoted(name)}`);
    }
  }

  /** Names that are valid alone could be those of other tables, such as PostgreSQL's own. */
  async #requireTables(tables: Header['tables']): Promise<void> {
    const { rows } = await this.#client.query<{ name: string; columns: string[] }>(COLUMNS, [MARKER]);
    const known = new Map(rows.map(({ name, columns }) => [name, new Set(columns)]));
    for (const { name, columns } of tables) {
      const wrong = columns.find((column, at) => !known.get(name)?.has(column) || columns.indexOf(column) !== at);
      if (wrong !== undefined) {
        throw new BackupError(
          `The backup names ${name}.${wrong}, which its migrations do not make. Take another backup: this one was changed.`,
        );
      }
    }
  }

  /** Loads one part of the rows of a table. */
  async load({ name, content }: ArchiveFile): Promise<void> {
    const table = name.slice(NAMES.rows.length).split('/')[0]!;
    const columns = this.#columns.get(table);
    if (!columns) throw new BackupError(`The backup has rows of a table that it does not name before: ${table}.`);
    const statement = `copy ${quoted(table)} (${columns.map(quoted).join(', ')}) from stdin`;
    try {
      await pipeline(content, this.#client.query(copyFrom(statement)));
    } catch (cause) {
      // Data exception, violated constraint: it is not for want of a disk or a connection.
      const { code, message } = cause as { code?: string; message: string };
      if (!/^2[23]/.test(code ?? '')) throw cause;
      throw new BackupError(`The rows of ${table} in the backup are not right (${message}). Take another backup.`, {
        cause,
      });
    }
  }

  /** Brings the schema to this release, and keeps what was loaded. Returns the migrations that ran. */
  async commit(takenAt: string): Promise<string[]> {
    const sql = this.#sql;
    const db: Pick<Database, 'transaction'> = { transaction: (work) => work(sql) };
    const ran = await migrate(db);
    await markLoaded(sql, takenAt);
    await this.#client.query('commit');
    // Without statistics, the first plans would read whole tables.
    await this.#client.query('analyze');
    return ran;
  }

  /** The restore is whole. */
  async finish(): Promise<void> {
    await removeMarker(this.#sql);
  }

  /** What was not committed is rolled back. */
  async close(): Promise<void> {
    await this.#client.end();
  }
}

function sqlOf(client: pg.Client): Sql {
  return {
    rows: async <Row>({ text, values }: Statement) => (await client.query(text, values)).rows as Row[],
    run: async ({ text, values }) => (await client.query(text, values)).rowCount ?? 0,
    notify: () => undefined,
  };
}

async function requireEmpty(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(TABLES, [MARKER]);
  if (rows.length > 0)
    throw new BackupError(`The database is not empty: it has the table ${rows[0]!.name}. Name an empty one.`);
}

function sqlOfMigration({ version, name, sha256 }: Header['migrations'][number], release: string): string {
  const known = readMigrations().find((migration) => migration.version === version);
  if (known && hashOf(known) === sha256) return known.sql;
  throw new BackupError(
    `The backup was written by release ${release}, with the migration ${name}, which this release does not have. ` +
      `Restore it with release ${release} or a later one.`,
  );
}

/** The statement is made of the name, which is that of a day: the text of the bound is not used. */
function partitionOf({ name, parent }: Header['partitions'][number]): string {
  const day = parent === 'attempts' ? dayOfName(name) : null;
  if (day === null)
    throw new BackupError(`The backup names ${name} of ${parent}, which is no day of the log. Take another backup.`);
  const [from, to] = [day.from, day.to].map((date) => date.toISOString());
  return `create table ${quoted(name)} partition of attempts for values from ('${from}') to ('${to}')`;
}

const TABLES = `
  select c.relname as name
  from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and c.relname <> $1
    and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
  order by c.relname`;

const COLUMNS = `
  select c.relname as name, array_agg(a.attname::text) as columns
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname not in ('schema_versions', $1)
  group by c.relname`;
