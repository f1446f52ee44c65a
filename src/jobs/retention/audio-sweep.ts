import type { StorageRuntime } from '../../audio/storage/storage.ts';
import { clearAudioKeys, findJobsToErase, findKeysInUse } from './audio-store.ts';

// Far longer than an upload, its probe and its transaction take: a younger file may still become a job's audio.
const ORPHAN_AGE_MS = 3_600_000;
const BATCH = 500;
const REMOVED_AT_ONCE = 50;

/**
 * Removes files without a job: uploads whose process died before the job was inserted. Returns their number. Rejects
 * when a file could not be removed; the others are.
 */
export async function sweepOrphans({ db, storage }: StorageRuntime): Promise<number> {
  let removed = 0;
  let failed: PromiseRejectedResult | undefined;
  for await (const keys of storage.listOlderThan(ORPHAN_AGE_MS)) {
    const inUse = new Set(await findKeysInUse(db, keys));
    const orphans = keys.filter((key) => !inUse.has(key));
    for (let start = 0; start < orphans.length; start += REMOVED_AT_ONCE) {
      const removals = await Promise.allSettled(
        orphans.slice(start, start + REMOVED_AT_ONCE).map((key) => storage.remove(key)),
      );
      failed ??= removals.find((removal) => removal.status === 'rejected');
    }
    removed += orphans.length;
  }
  if (failed) throw failed.reason;
  return removed;
}

/**
 * Erases the audio of one batch of jobs that ended `retentionMs` ago or earlier. Returns the size of the batch. Rejects
 * when a file could not be removed; the others are.
 */
export async function eraseEndedAudio(runtime: StorageRuntime, retentionMs: number): Promise<number> {
  const failures: unknown[] = [];
  const jobs = await findJobsToErase(runtime.db, { retentionMs, limit: BATCH, now: null });
  for (let start = 0; start < jobs.length; start += REMOVED_AT_ONCE) {
    const part = jobs.slice(start, start + REMOVED_AT_ONCE);
    await eraseAudio(runtime, part).catch((cause: unknown) => failures.push(cause));
  }
  if (failures.length > 0) throw failures[0];
  return jobs.length;
}

/** An ended job whose audio is stored. */
export type JobWithAudio = { shard: number; id: string; audioKey: string };

/**
 * Removes the files first and updates the jobs afterwards: after a crash in between, the next sweep does it again.
 * Rejects when a file could not be removed; the others are.
 */
export async function eraseAudio({ db, storage }: StorageRuntime, jobs: JobWithAudio[]): Promise<void> {
  const removals = await Promise.allSettled(jobs.map(({ audioKey }) => storage.remove(audioKey)));
  const erased = jobs.filter((_job, index) => removals[index]!.status === 'fulfilled');
  if (erased.length > 0) await clearAudioKeys(db, erased);
  const failed = removals.find((removal) => removal.status === 'rejected');
  if (failed) throw failed.reason;
}
