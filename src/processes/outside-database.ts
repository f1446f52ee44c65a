import { requireWholeDatabase } from '../db/backup/restore-marker.ts';
import { checkUrls, type DatabaseUrls } from '../db/check-urls.ts';
import { openDatabase, type Sql } from '../db/database.ts';
import { migrate } from '../db/schema/migrate.ts';
import { UnusableDatabaseError } from '../db/unusable-database-error.ts';
import { systemClock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { decideStart } from '../rules/database/database-failure.ts';

/** @throws UnusableDatabaseError */
type DatabaseCheck = (sql: Sql) => Promise<void>;

const RETRY_DELAY_MS = 500;

/**
 * Checks and migrates the database that the settings name. Waits while the database is not reachable: it may be
 * starting at the same time. Resolves with null when the signal aborts.
 * @throws UnusableDatabaseError  when waiting cannot help, with the setting to change
 */
export async function prepareOutside(
  urls: DatabaseUrls,
  { log, signal, check }: { log: Log; signal: AbortSignal; check: DatabaseCheck },
): Promise<{ poolsBySession: boolean } | null> {
  let lastReason = '';
  while (!signal.aborted) {
    try {
      const poolsBySession = await checkUrls(urls);
      await bringUpToDate(urls.directUrl, log, check);
      return { poolsBySession };
    } catch (error) {
      if (error instanceof UnusableDatabaseError) throw error;
      const { code, message } = error as { code?: string; message: string };
      const decision = decideStart({ code: code ?? null, message });
      if (decision.kind === 'end') {
        throw new UnusableDatabaseError(`DATABASE_URL cannot be used: ${message}. ${decision.advice}`, {
          cause: error,
        });
      }
      if (message !== lastReason) log.warn({ err: error }, 'the database cannot be used yet; trying again');
      lastReason = message;
      await systemClock.sleep(RETRY_DELAY_MS, signal);
    }
  }
  return null;
}

/** Applies the missing migrations, without a timeout; then checks what is stored. */
export async function bringUpToDate(url: string, log: Log, check: DatabaseCheck): Promise<void> {
  const db = openDatabase(url, { maxConnections: 1 });
  try {
    await requireWholeDatabase(db);
    const applied = await migrate(db, undefined, (migrations) =>
      log.info({ migrations }, 'bringing the schema up to date; a large database takes minutes'),
    );
    if (applied.length > 0) log.info({ migrations: applied }, 'schema brought up to date');
    await check(db);
  } finally {
    await db.close();
  }
}
