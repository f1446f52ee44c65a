import type { StorageRuntime } from '../../audio/storage/storage.ts';
import { PassCursor, RowPass } from '../../db/statements/row-pass.ts';
import { clearAudioKeys, findJobsToErase, findKeysInUse } from './audio-store.ts';

// Far longer than an upload, its probe and its transaction take: a younger file may still become a job's audio.
const ORPHAN_AGE_MS = 3_600_000;
/** Jobs whose audio is erased in one pass. */
export const ERASED_AT_ONCE = 500;
const REMOVED_AT_ONCE = 50;

/**
 * Removes files without a job: uploads whose process died before the job was inserted. Returns their number. Rejects
 * when a file could not be removed; the others are.
 */
export async function sweepOrphans({ db, storage }: StorageRuntime): Promise<number> {
  const pass = new RowPass();
  let removed = 0;
  for await (const keys of storage.listOlderThan(ORPHAN_AGE_MS)) {
    const inUse = new Set(await findKeysInUse(db, keys));
    const orphans = keys.filter((key) => !inUse.has(key));
    const remove = async (key: string) => {
      await storage.remove(key);
      removed += 1;
    };
    await pass.each(orphans, remove, { atOnce: REMOVED_AT_ONCE });
  }
  pass.end();
  return removed;
}

/**
 * Erases the audio of one batch of jobs that ended `retentionMs` ago or earlier. Returns the size of the batch. Rejects
 * when a file could not be removed; the others are.
 * @param cursor  shared by the passes
 */
export async function eraseEndedAudio(
  runtime: StorageRuntime,
  retentionMs: number,
  cursor = new PassCursor<JobWithAudio>(ERASED_AT_ONCE),
): Promise<number> {
  const jobs = await cursor.next((page) => findJobsToErase(runtime.db, { retentionMs, ...page }));
  const pass = new RowPass();
  const groups = Array.from({ length: Math.ceil(jobs.length / REMOVED_AT_ONCE) }, (_, group) =>
    jobs.slice(group * REMOVED_AT_ONCE, (group + 1) * REMOVED_AT_ONCE),
  );
  await pass.each(groups, (group) => eraseAudio(runtime, group));
  pass.end();
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
