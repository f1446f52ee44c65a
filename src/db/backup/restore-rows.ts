import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { connectionOptions, DatabaseClient } from '../connection.ts';
import type { Sql, Statement } from '../database.ts';
import { hashOf, readMigrations } from '../schema/migrations.ts';
import { prepareVersions } from '../schema/versions.ts';
import type { ArchiveFile } from './archive-reader.ts';
import { BackupError, type Header, NAMES } from './contents.ts';
import { quoted } from './snapshot.ts';

/** Loads the rows of a backup into an empty database, in one transaction. */
export class RowLoader {
  readonly #client: pg.Client;
  readonly #columns = new Map<string, string[]>();

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  /** @throws BackupError  if the database has tables */
  static async open(url: string): Promise<RowLoader> {
    const client = new DatabaseClient(connectionOptions(url, { application_name: 'verbatim restore' }));
    await client.connect();
    await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; begin');
    const { rows } = await client.query<{ name: string }>(TABLES);
    if (rows.length === 0) return new RowLoader(client);
    await client.end();
    throw new BackupError(`The database is not empty: it has the table ${rows[0]!.name}. Name an empty one.`);
  }

  /**
   * Makes the schema that the rows were written with, from the migrations that this release has.
   * @throws BackupError  if this release does not have them
   */
  async begin(header: Header): Promise<void> {
    const known = new Map(readMigrations().map((migration) => [migration.version, migration]));
    await prepareVersions(this.#sql());
    for (const { version, name, sha256, release } of header.migrations) {
      const migration = known.get(version);
      if (!migration || hashOf(migration) !== sha256) {
        throw new BackupError(
          `The backup was written by release ${header.release}, with the migration ${name}, which this release does not have. ` +
            `Restore it with release ${header.release} or a later one.`,
        );
      }
      await this.#client.query(migration.sql);
      await this.#client.query('insert into schema_versions (version, name, sha256, release) values ($1, $2, $3, $4)', [
        version,
        name,
        sha256,
        release,
      ]);
    }
    for (const { name, parent, bound } of header.partitions)
      await this.#client.query(`create table ${quoted(name)} partition of ${quoted(parent)} ${bound}`);
    for (const { name, columns } of header.tables) {
      this.#columns.set(name, columns);
      // Migrations insert rows too.
      await this.#client.query(`delete from ${quoted(name)}`);
    }
  }

  #sql(): Sql {
    return {
      rows: async <Row>({ text, values }: Statement) => (await this.#client.query(text, values)).rows as Row[],
      run: async ({ text, values }) => (await this.#client.query(text, values)).rowCount ?? 0,
      notify: () => undefined,
    };
  }

  /** Loads one part of the rows of a table. */
  async load({ name, content }: ArchiveFile): Promise<void> {
    const table = name.slice(NAMES.rows.length).split('/')[0]!;
    const columns = this.#columns.get(table);
    if (!columns) throw new BackupError(`The backup has rows of ${table}, which is not among its tables.`);
    const statement = `copy ${quoted(table)} (${columns.map(quoted).join(', ')}) from stdin`;
    await pipeline(content, this.#client.query(copyFrom(statement)));
  }

  /** Keeps what was loaded. Until then a failure leaves the database empty. */
  async commit(): Promise<void> {
    await this.#client.query('commit');
    // Without statistics, the first plans would read whole tables.
    await this.#client.query('analyze');
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}

const TABLES = `
  select c.relname as name
  from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
    and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
  order by c.relname`;
