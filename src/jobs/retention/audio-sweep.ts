import type { AudioStorage } from '../../audio/storage/storage.ts';
import type { Database } from '../../db/database.ts';
import { findJobsToErase, findKeysInUse, forgetAudio } from './audio-store.ts';

type SweepDeps = { db: Database; storage: AudioStorage };

// Far longer than an upload, its probe and its transaction take: a younger file may still get its job.
const ORPHAN_AGE_MS = 3_600_000;
const BATCH = 500;
const REMOVED_AT_ONCE = 50;

/** Removes files that no job names: uploads whose process died before their job was written. Returns how many. */
export async function sweepOrphans({ db, storage }: SweepDeps): Promise<number> {
  let removed = 0;
  for await (const keys of storage.listOlderThan(ORPHAN_AGE_MS)) {
    const inUse = new Set(await findKeysInUse(db, keys));
    const orphans = keys.filter((key) => !inUse.has(key));
    for (let start = 0; start < orphans.length; start += REMOVED_AT_ONCE) {
      await Promise.all(orphans.slice(start, start + REMOVED_AT_ONCE).map((key) => storage.remove(key)));
    }
    removed += orphans.length;
  }
  return removed;
}

/** Erases the audio of jobs that ended more than `retentionMs` ago, a batch at a time. Returns how many. */
export async function eraseEndedAudio({ db, storage }: SweepDeps, retentionMs: number): Promise<number> {
  const jobs = await findJobsToErase(db, { retentionMs, limit: BATCH, now: null });
  for (const job of jobs) await eraseAudio({ db, storage }, job);
  return jobs.length;
}

/** Erases first and notes it afterwards: a crash between the two is made good by the next sweep. */
export async function eraseAudio(
  { db, storage }: SweepDeps,
  job: { shard: number; id: string; audioKey: string },
): Promise<void> {
  await storage.remove(job.audioKey);
  await forgetAudio(db, job);
}
