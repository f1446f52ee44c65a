import type pg from 'pg';
import { BOUNDS } from '../rules/bounds.ts';
import { connectionOptions, DatabaseClient } from './connection.ts';

export type SessionLock = {
  /** Whether the lock is held now. */
  isHeld(): boolean;
  release(): Promise<void>;
};

const CONNECT_TIMEOUT_MS = 3_000;
// After a restart, the server may still hold the lock of the killed process for a moment.
const TRIES = { most: 10, everyMs: 100 };
const AGAIN_AFTER_LOSS_MS = 1_000;

/**
 * Tries to take a PostgreSQL advisory lock on a connection of its own. The lock ends with this process, also after a
 * crash. After a lost connection the lock is taken again, unless another session holds it by then.
 * @throws Error  when the database cannot be reached
 */
export async function holdSessionLock(url: string, name: string): Promise<SessionLock> {
  let client: pg.Client | null = null;
  let retry: NodeJS.Timeout | undefined;
  let isReleased = false;

  async function take(): Promise<void> {
    const options = {
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: BOUNDS.queryTimeoutMs,
      keepAlive: true,
    };
    const fresh = new DatabaseClient(connectionOptions(url, options));
    fresh.on('error', () => fresh.end().catch(() => undefined));
    await fresh.connect();
    if (!(await isTaken(fresh, name))) return void (await fresh.end().catch(() => undefined));
    if (isReleased) return void (await fresh.end());
    client = fresh;
    fresh.on('end', () => {
      client = null;
      takeLater();
    });
  }

  function takeLater(): void {
    if (isReleased) return;
    retry = setTimeout(() => void take().catch(takeLater), AGAIN_AFTER_LOSS_MS).unref();
  }

  await take();
  return {
    isHeld: () => client !== null,
    async release() {
      isReleased = true;
      clearTimeout(retry);
      await client?.end().catch(() => undefined);
    },
  };
}

async function isTaken(client: pg.Client, name: string): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    const { rows } = await client.query('select pg_try_advisory_lock(hashtextextended($1, 0)) as "isOurs"', [name]);
    if (rows[0].isOurs || tries >= TRIES.most) return rows[0].isOurs;
    await new Promise((resolve) => setTimeout(resolve, TRIES.everyMs));
  }
}
