import fs from 'node:fs';
import path from 'node:path';

// Some file systems cannot sync a folder; a folder above ours may be closed to this user.
// PostgreSQL passes over them too.
const PASSED_OVER = ['EINVAL', 'EACCES'];

/**
 * Makes the names in a folder survive a power failure: of files that were created, renamed, linked or removed in it. A
 * sync of the file itself does not, on btrfs least of all.
 */
export function syncFolder(folder: string): void {
  let descriptor: number | null = null;
  try {
    descriptor = fs.openSync(folder, 'r');
    fs.fsyncSync(descriptor);
  } catch (error) {
    if (!PASSED_OVER.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    if (descriptor !== null) fs.closeSync(descriptor);
  }
}

/**
 * Creates a folder, and those above it, with names that survive a power failure. Does nothing else to one that exists.
 */
export function makeDurableFolder(folder: string, options: { mode?: number } = {}): void {
  const first = fs.mkdirSync(folder, { recursive: true, ...options });
  const top = path.dirname(path.resolve(first ?? folder));
  for (let parent = path.dirname(path.resolve(folder)); ; parent = path.dirname(parent)) {
    // Also above a folder that was there: the process that created it may have been killed before the sync.
    syncFolder(parent);
    if (parent === top || parent === path.dirname(parent)) return;
  }
}
