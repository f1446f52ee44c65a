import { VERSION } from '../../platform/installation.ts';
import {
  type AppliedMigration,
  compareSchema,
  type KnownMigration,
  type SchemaState,
} from '../../rules/database/schema-state.ts';
import type { Sql } from '../database.ts';
import { hashOf, type Migration, readMigrations } from './migrations.ts';

/** Creates the table of the applied migrations, or adds the columns that a database of release 0.1.0 lacks. */
export async function prepareVersions(tx: Sql): Promise<void> {
  await tx.run({
    text: `
      create table if not exists schema_versions (
        version integer primary key,
        name text not null,
        applied_at timestamptz not null default now(),
        sha256 text,
        release text
      )`,
  });
  const [found] = await tx.rows({
    text: `
      select 1 from pg_attribute
      where attrelid = 'schema_versions'::regclass and attname = 'sha256' and not attisdropped`,
  });
  // Asked first: the change would lock the table for each start.
  if (!found) await tx.run({ text: 'alter table schema_versions add column sha256 text, add column release text' });
}

/** The migrations that ran on the database, in order. */
export async function listVersions(sql: Sql): Promise<AppliedMigration[]> {
  return await sql.rows({ text: 'select version, name, sha256, release from schema_versions order by version' });
}

/** Records that a migration ran. */
export async function insertVersion(tx: Sql, migration: Migration): Promise<void> {
  await tx.run({
    text: 'insert into schema_versions (version, name, sha256, release) values ($1, $2, $3, $4)',
    values: [migration.version, migration.name, hashOf(migration), VERSION],
  });
}

/** Records that a database of an earlier commit has the schema of this migration now. */
export async function adoptVersion(tx: Sql, migration: Migration): Promise<void> {
  await tx.run({
    text: 'update schema_versions set sha256 = $2, release = $3 where version = $1 and sha256 is null',
    values: [migration.version, hashOf(migration), '0.1.0'],
  });
}

let known: KnownMigration[] | null = null;

/** The migrations of this release with their hashes; read from the files once. */
export function knownMigrations(): KnownMigration[] {
  known ??= withHashes(readMigrations());
  return known;
}

/** Compares what ran on a database with what this release knows. */
export function stateOf(applied: AppliedMigration[], migrations: readonly KnownMigration[]): SchemaState {
  return compareSchema(applied, migrations, VERSION);
}

/** The migrations as `stateOf` compares them. */
export function withHashes(migrations: readonly Migration[]): KnownMigration[] {
  return migrations.map((migration) => ({ ...migration, sha256: hashOf(migration) }));
}
