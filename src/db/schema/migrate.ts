import { setTimeout as pause } from 'node:timers/promises';
import type { Database, Sql } from '../database.ts';
import { beginSchemaChange, distributeNewTables } from '../distribute.ts';
import { UnusableDatabaseError } from '../unusable-database-error.ts';
import { requireKnownSchema } from './earlier-schemas.ts';
import { type Migration, readMigrations } from './migrations.ts';
import { adoptVersion, insertVersion, listVersions, prepareVersions, stateOf, withHashes } from './versions.ts';

// Any number, the same on every node.
const LOCK_KEY = 7_311_904;
// Below PostgreSQL's deadlock_timeout of 1 s:
// of a migration and a request that wait for each other, the migration ends.
const LOCK_TIMEOUT_MS = 300;
const RETRY_MS = 200;
// Five minutes or more of another node's transactions; a table that is locked for longer needs an operator.
const MAX_ATTEMPTS = 600;

/**
 * The database was migrated by a newer release than this one.
 * @internal  tests name it
 */
export class NewerSchemaError extends UnusableDatabaseError {
  constructor(found: number, known: number) {
    super(
      `The database has schema ${found}, this release knows ${known}. Start the newer release, or restore a backup.`,
    );
    this.name = 'NewerSchemaError';
  }
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
  db: Pick<Database, 'transaction'>,
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
  await prepareVersions(tx);
  await tx.run({ text: `set local lock_timeout = ${LOCK_TIMEOUT_MS}` });
  await adoptEarlier(tx, migrations[0]!);
  const names = await missingOn(tx, migrations);
  if (names.length === 0) return [];
  onMissing(names);
  const isDistributed = await beginSchemaChange(tx);
  for (const migration of migrations.filter(({ name }) => names.includes(name))) {
    await runScript(tx, migration.sql, isDistributed);
    await insertVersion(tx, migration);
  }
  if (isDistributed) await distributeNewTables(tx);
  return names;
}

/**
 * The names of the migrations that have to run.
 * @throws UnusableDatabaseError  if the database has other migrations than this release
 */
async function missingOn(tx: Sql, migrations: Migration[]): Promise<string[]> {
  const state = stateOf(await listVersions(tx), withHashes(migrations));
  if (state.kind === 'newer') throw new NewerSchemaError(state.newest.version, migrations.at(-1)!.version);
  if (state.kind === 'changed') {
    throw new UnusableDatabaseError(
      `The database was migrated with another ${state.names.join(', ')} than this release has. ` +
        'Start the release that migrated it, or restore a backup.',
    );
  }
  return state.kind === 'older' ? state.missing : [];
}

/** Gives a database from before release 0.2.0, which has no hash of its first migration, that hash. */
async function adoptEarlier(tx: Sql, initial: Migration): Promise<void> {
  const [first, ...later] = await listVersions(tx);
  if (first?.version !== initial.version || first.sha256 !== null || later.length > 0) return;
  await requireKnownSchema(tx, initial);
  await adoptVersion(tx, initial);
}

/** Citus sends the text of a change to the workers, which accept one statement at a time. */
async function runScript(tx: Sql, script: string, isDistributed: boolean): Promise<void> {
  for (const text of isDistributed ? statementsOf(script) : [script]) await tx.run({ text });
}

/**
 * The statements of a script, without those that are comments only. Bodies of functions must be quoted with `$$`.
 * @internal  only a database with Citus runs them one by one
 */
export function statementsOf(script: string): string[] {
  const pieces = script.match(/(?:--.*|'[^']*'|\$\$[\s\S]*?\$\$|[^;])+/g) ?? [];
  return pieces.map((piece) => piece.trim()).filter((piece) => piece.replace(/--.*/g, '').trim() !== '');
}
