import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ROOT } from '../platform/installation.ts';
import type { Database, Sql } from './database.ts';
import { beginSchemaChange, distributeNewTables } from './distribute.ts';

const FOLDER = path.join(ROOT, 'src/db/migrations');
// Any number, the same on every node.
const LOCK_KEY = 7_311_904;
// Below PostgreSQL's deadlock_timeout of 1 s:
// of a migration and a request that wait for each other, the migration ends.
const LOCK_TIMEOUT_MS = 300;
const RETRY_MS = 200;
// Five minutes or more of another node's transactions; a table that is locked for longer needs an operator.
const MAX_ATTEMPTS = 600;

export type Migration = { version: number; name: string; sql: string };

/** The database was migrated by a newer release than this one. */
export class NewerSchemaError extends Error {
  constructor(found: number, known: number) {
    super(
      `The database has schema ${found}, this release knows ${known}. Start the newer release, or restore a backup.`,
    );
    this.name = 'NewerSchemaError';
  }
}

/**
 * The numbered files of `migrations/`, in order. Each runs once per database; a released file is never edited.
 * @internal  tests add a migration to them
 */
export function readMigrations(): Migration[] {
  const files = readdirSync(FOLDER)
    .filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))
    .sort();
  return files.map((name) => ({
    version: Number(name.slice(0, 4)),
    name,
    sql: readFileSync(path.join(FOLDER, name), 'utf8'),
  }));
}

/**
 * Brings the schema up to this release: all missing migrations in one transaction, under a lock that makes the nodes of
 * a cluster take turns. No timeout limits a statement: a large table takes its time. A migration that waits for a lock
 * of another node's transaction is rolled back and tried again, so that it neither ends that transaction nor makes
 * requests wait behind it. In a distributed database, the tables that a migration creates are distributed too. Returns
 * the names of those that ran.
 * @param onMissing  gets the names of those that are going to run, once
 * @throws NewerSchemaError  if the database is ahead of this release
 */
export async function migrate(
  db: Database,
  migrations: Migration[] = readMigrations(),
  onMissing: (names: string[]) => void = () => undefined,
): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      const announce = attempt === 1 ? onMissing : () => undefined;
      return await db.transaction((tx) => runMissing(tx, migrations, announce), { withoutTimeouts: true });
    } catch (error) {
      if (!isLockConflict(error) || attempt === MAX_ATTEMPTS) throw error;
    }
    await pause(RETRY_MS);
  }
}

/** Whether the transaction was rolled back because of a lock: lock_not_available or deadlock_detected. */
function isLockConflict(error: unknown): boolean {
  return ['55P03', '40P01'].includes(String((error as { code?: unknown } | null)?.code));
}

async function runMissing(tx: Sql, migrations: Migration[], onMissing: (names: string[]) => void): Promise<string[]> {
  await tx.run({ text: 'select pg_advisory_xact_lock($1)', values: [LOCK_KEY] });
  await tx.run({
    text: 'create table if not exists schema_versions (version integer primary key, name text not null, applied_at timestamptz not null default now())',
  });
  const done = new Set(
    (await tx.rows<{ version: number }>({ text: 'select version from schema_versions' })).map(({ version }) => version),
  );
  const found = Math.max(0, ...done);
  const known = migrations.at(-1)?.version ?? 0;
  if (found > known) throw new NewerSchemaError(found, known);
  const missing = migrations.filter((migration) => !done.has(migration.version));
  const names = missing.map((migration) => migration.name);
  if (names.length > 0) onMissing(names);
  await tx.run({ text: `set local lock_timeout = ${LOCK_TIMEOUT_MS}` });
  const isDistributed = missing.length > 0 && (await beginSchemaChange(tx));
  for (const migration of missing) {
    // Citus sends the text of a change to the workers, which accept one statement at a time.
    for (const text of isDistributed ? statementsOf(migration.sql) : [migration.sql]) await tx.run({ text });
    await tx.run({
      text: 'insert into schema_versions (version, name) values ($1, $2)',
      values: [migration.version, migration.name],
    });
  }
  if (isDistributed) await distributeNewTables(tx);
  return names;
}

/**
 * The statements of a script, without those that are comments only. Bodies of functions must be quoted with `$$`.
 * @internal  only a database with Citus runs them one by one
 */
export function statementsOf(script: string): string[] {
  const pieces = script.match(/(?:--.*|'[^']*'|\$\$[\s\S]*?\$\$|[^;])+/g) ?? [];
  return pieces.map((piece) => piece.trim()).filter((piece) => piece.replace(/--.*/g, '').trim() !== '');
}
