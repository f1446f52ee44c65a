import { isDatabaseAway } from '../db/database.ts';
import type { Runtime } from '../db/runtime.ts';
import { holdSessionLock, type SessionLock } from '../db/session-lock.ts';
import { returnFetchesOf } from '../jobs/fetch/fetch-store.ts';
import { returnJobsOf } from '../jobs/queue/lease-store.ts';
import { endDeliverers } from '../webhooks/ownership/ownership-store.ts';
import { newNodeId } from './data-directory.ts';

/** This node among those that share the database. */
export type Node = {
  /** Begins the names of the holders of all its leases. */
  id: string;
  /** Releases the leases of a process that has ended. Tries again while the database is away; never rejects. */
  release(holder: string): Promise<void>;
  close(): Promise<void>;
};

type NodeOptions = Pick<Runtime, 'db' | 'clock' | 'log'> & {
  /** PostgreSQL itself, not a pooler: the lock is the session's. Null where no other process can have the same name. */
  lockUrl: string | null;
  /** What DATA_DIR/node-id holds. */
  keptId: string;
  /** Ends the wait for a database that is away. */
  signal: AbortSignal;
};

// A crash of a node interrupts all of its jobs, and seldom is one of them the cause. So a job's first starts do not
// count as attempts when its node crashes. A job that does crash its node fails once it was started more often.
const FREE_STARTS_AFTER_NODE_CRASH = 10;
const RETRY_MS = 500;
// By then all leases have ended by themselves.
const MOST_RELEASE_TRIES = 60;

/**
 * Gives this process the id that is stored in the data directory, and releases the leases that a node with this id held
 * when it ended. A lock in the database, which ends with the process that holds it, shows whether another process has
 * the id, by a copy of the directory or by the same one. Then this process uses a new id, and releases nothing. Waits
 * for a database that is away.
 */
export async function openNode({ db, lockUrl, keptId, clock, log, signal }: NodeOptions): Promise<Node> {
  const closing = new AbortController();
  signal.addEventListener('abort', () => closing.abort());
  const lock = lockUrl === null ? null : await lockPatiently(lockUrl);
  const isOwnName = lockUrl === null || (lock?.isHeld() ?? false);
  const id = isOwnName ? keptId : newNodeId();
  if (!isOwnName && !signal.aborted)
    log.warn({ node: keptId, goes_by: id }, 'another process runs as this node; see DATA_DIR/node-id');

  async function lockPatiently(url: string): Promise<SessionLock | null> {
    while (!signal.aborted) {
      try {
        return await holdSessionLock(url, keptId);
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
        log.warn({ err: error }, 'the database is away; trying again');
        await clock.sleep(RETRY_MS, signal);
      }
    }
    return null;
  }

  async function release(holders: string, freeStarts: number): Promise<void> {
    for (let tries = 1; !closing.signal.aborted; tries++) {
      try {
        const [jobs, fetches, shards] = await Promise.all([
          returnJobsOf(db, { holders, freeStarts }),
          returnFetchesOf(db, holders),
          endDeliverers(db, holders),
        ]);
        if (jobs.length + fetches + shards > 0)
          log.info({ jobs: jobs.length, fetches, delivery_shards: shards }, 'interrupted work goes on');
        return;
      } catch (error) {
        if (!isDatabaseAway(error) || tries >= MOST_RELEASE_TRIES)
          return log.error({ err: error, holders }, 'leases of a process that ended are left to run out');
        await clock.sleep(RETRY_MS, closing.signal);
      }
    }
  }

  if (isOwnName) await release(`${id}/`, FREE_STARTS_AFTER_NODE_CRASH);
  return {
    id,
    release: (holder) => release(holder, 0),
    async close() {
      closing.abort();
      await lock?.release();
    },
  };
}
