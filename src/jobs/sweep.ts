import type { AudioStorage } from '../audio/storage.ts';
import type { Database } from '../db/sql.ts';
import { findJobsToErase, findKeysInUse, forgetAudio } from './audio-store.ts';

type SweepDeps = { db: Database; storage: AudioStorage };

// Far longer than an upload, its probe and its transaction take: a younger file may still get its job.
const ORPHAN_AGE_MS = 3_600_000;
const BATCH = 500;

/** Removes files that no job names: uploads whose process died before their job was written. Returns how many. */
export async function sweepOrphans({ db, storage }: SweepDeps): Promise<number> {
  const keys = await storage.listOlderThan(ORPHAN_AGE_MS);
  let removed = 0;
  for (let start = 0; start < keys.length; start += BATCH) {
    const batch = keys.slice(start, start + BATCH);
    const inUse = new Set(await findKeysInUse(db, batch));
    const orphans = batch.filter((key) => !inUse.has(key));
    await Promise.all(orphans.map((key) => storage.remove(key)));
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
  job: { lane: number; id: string; audioKey: string },
): Promise<void> {
  await storage.remove(job.audioKey);
  await forgetAudio(db, job);
}
