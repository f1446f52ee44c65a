import { statfs } from 'node:fs/promises';
import { type Config, dataPaths } from '../../config/settings.ts';
import { reasonOfDisk } from '../../rules/database/readiness-reasons.ts';

/** Why the disks of DATA_DIR take no more uploads: of the folder itself, and of its audio, which may be on another. */
export async function diskReasons(config: Config): Promise<string[]> {
  const { audio } = dataPaths(config.dataDir);
  const folders = config.storageUrl === null ? [config.dataDir, audio] : [config.dataDir];
  const reasons = await Promise.all(folders.map((folder) => reasonOf(folder, config.minFreeDiskBytes)));
  // A folder on the same disk has the same reason in other words.
  return reasons.filter((reason) => reason !== null).slice(0, 1);
}

async function reasonOf(folder: string, minFreeBytes: number): Promise<string | null> {
  try {
    const { bavail, bsize, ffree, files } = await statfs(folder);
    return reasonOfDisk(folder, { freeBytes: bavail * bsize, freeInodes: ffree, inodes: files }, minFreeBytes);
  } catch (error) {
    // The folder of the audio is made by the first start; that of a disk that is not mounted is the storage's reason.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    return `The disk of ${folder} cannot be read (${(error as Error).message}).`;
  }
}
