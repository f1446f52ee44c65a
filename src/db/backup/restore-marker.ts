import type { Sql } from '../database.ts';
import { UnfinishedRestoreError } from '../unusable-database-error.ts';

/** How far a restore into a database is: its table says so from before the first row until the end. */
export type RestoreState = 'none' | 'loading' | { loaded: string };

/** The only table of a database into which a restore has loaded nothing yet. */
export const MARKER = 'unfinished_restore';

const EXISTS = { text: "select to_regclass('unfinished_restore') is not null as exists" };

/** What a restore has done to the database. `loaded`: all of the backup of that time is there. */
export async function readRestoreState(sql: Sql): Promise<RestoreState> {
  const [{ exists }] = (await sql.rows(EXISTS)) as [{ exists: boolean }];
  if (!exists) return 'none';
  const rows = await sql.rows<{ loaded: string | null }>({ text: 'select loaded from unfinished_restore' });
  return rows[0]?.loaded ? { loaded: rows[0].loaded } : 'loading';
}

/** Marks the database as one that a restore has begun to load. */
export async function markLoading(sql: Sql): Promise<void> {
  await sql.run({ text: 'create table if not exists unfinished_restore (loaded text)' });
}

/** In the transaction that loads the rows: from its commit on, all of the backup is there. */
export async function markLoaded(tx: Sql, takenAt: string): Promise<void> {
  await tx.run({ text: 'insert into unfinished_restore (loaded) values ($1)', values: [takenAt] });
}

/** The restore is whole. */
export async function removeMarker(sql: Sql): Promise<void> {
  await sql.run({ text: 'drop table if exists unfinished_restore' });
}

/**
 * Before a service or a command uses the database. A restore that had loaded everything and was killed at its last step
 * is finished here.
 * @throws UnfinishedRestoreError  when a restore has not loaded everything
 */
export async function requireWholeDatabase(sql: Sql): Promise<void> {
  const state = await readRestoreState(sql);
  if (state === 'loading') {
    throw new UnfinishedRestoreError(
      `A restore into the database has not ended. Run the same "verbatim restore" again, which takes over; or, to begin without the backup: drop table ${MARKER}.`,
    );
  }
  if (state !== 'none') await removeMarker(sql);
}
