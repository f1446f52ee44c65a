import type { Database } from '../../db/database.ts';
import { deleteInBatches, SWEEP_BATCH } from '../../db/statements/batched-delete.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Plan } from '../../rules/accounts/plan.ts';
import { cutoff, daysFrom, type LogDay } from '../../rules/webhooks/log-day.ts';
import { type DayChange, dropDay, listDays, makeDay, readNow } from './partition-store.ts';
import { deleteOldAttempts } from './retention-store.ts';

type LogRetention = {
  db: Database;
  clock: Pick<Clock, 'sleep'>;
  keepDays: Record<Plan, number>;
  signal?: AbortSignal;
  now?: Date | null;
};

/** Partitions are made this time before they are needed: a janitor may be away for a weekend. */
const DAYS_AHEAD = 3;
const TRIES = 10;
const PAUSE_MS = 500;
const PLANS: readonly Plan[] = ['lite', 'pro'];

/**
 * Keeps the partitions of the delivery log: makes those of today and the days ahead, and drops those of which every row
 * is older than the longest retention. Returns what it changed; a log in heavy use is left for the next turn.
 */
export async function maintainPartitions(retention: LogRetention): Promise<{ made: string[]; dropped: string[] }> {
  const { db, keepDays, now = null } = retention;
  const nowMs = (await readNow(db, now)).getTime();
  const longestEndsAt = cutoff(nowMs, Math.max(keepDays.lite, keepDays.pro));
  const existing = await listDays(db);
  const known = new Set(existing.map(({ name }) => name));
  const missing = daysFrom(nowMs, DAYS_AHEAD).filter(({ name }) => !known.has(name));
  const past = existing.filter(({ to }) => to <= longestEndsAt);
  return {
    made: await changeEach(retention, missing, makeDay),
    dropped: await changeEach(retention, past, dropDay),
  };
}

async function changeEach(
  { db, clock, signal }: LogRetention,
  days: LogDay[],
  change: (db: Database, day: LogDay) => Promise<DayChange>,
): Promise<string[]> {
  const changed: string[] = [];
  for (const day of days) {
    for (let tries = 0; tries < TRIES && !signal?.aborted; tries++) {
      const outcome = await change(db, day);
      if (outcome === 'done') changed.push(day.name);
      if (outcome !== 'busy') break;
      await clock.sleep(PAUSE_MS, signal);
    }
  }
  return changed;
}

/**
 * Deletes, row by row, the log of accounts whose plan keeps it for less than the longest retention, and what is old in
 * the default partition. Goes by the plan that an account has now. Returns how many rows went.
 */
export async function sweepAttempts({ db, keepDays, signal, now = null }: LogRetention): Promise<number> {
  const nowMs = (await readNow(db, now)).getTime();
  const longest = Math.max(keepDays.lite, keepDays.pro);
  const days = await listDays(db);
  let deleted = 0;
  for (const plan of PLANS) {
    const endsAt = cutoff(nowMs, keepDays[plan]);
    // The rows of the plan that keeps them longest go with their day.
    const inDays = keepDays[plan] === longest ? [] : days.filter(({ from }) => from <= endsAt);
    for (const partition of ['attempts_default', ...inDays.map(({ name }) => name)]) {
      const batch = { partition, plan, endsAt, limit: SWEEP_BATCH };
      deleted += await deleteInBatches((shard) => deleteOldAttempts(db, { ...batch, shard }), signal);
    }
  }
  return deleted;
}
