import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { makeDurableFolder, syncFolder } from '../../platform/files/durable-names.ts';
import { claimDirectory } from '../embedded/folder-lock.ts';
import { UnfinishedRestoreError } from '../unusable-database-error.ts';
import { BackupError } from './contents.ts';

const MARKER = 'unfinished-restore';
// What an operator may put into a new DATA_DIR before a restore.
const OWN_FILES = ['admin-token', 'secrets-key'];
// A service writes it when its first start has all else.
const NODE_ID = 'node-id';

/** @throws UnfinishedRestoreError  when a restore into the folder has not ended */
export function requireWholeFolder(dataDir: string): void {
  const marker = path.join(dataDir, MARKER);
  if (!existsSync(marker)) return;
  throw new UnfinishedRestoreError(
    `A restore into DATA_DIR ${dataDir} has not ended. Run the same "verbatim restore" again, which takes over; or name another DATA_DIR.`,
  );
}

/**
 * The DATA_DIR of a restore. A folder in it says that the restore has not ended, and holds the lock of the process that
 * is at work.
 */
export class RestoreFolder {
  readonly #dataDir: string;
  readonly #marker: string;
  #lock: { release(): void } | null = null;
  /** Whether a restore before this one has marked the folder, and so made all that is in it. */
  isTakenOver = false;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#marker = path.join(dataDir, MARKER);
  }

  /**
   * Marks the folder, or takes over what a restore that failed or was killed has left.
   * @throws BackupError          unless the folder holds at most what an operator has put there
   * @throws DirectoryTakenError  while another restore is at work
   */
  claim(): void {
    if (this.#lock) return;
    this.requireFree();
    this.isTakenOver = existsSync(this.#marker);
    makeDurableFolder(this.#dataDir, { mode: 0o700 });
    makeDurableFolder(this.#marker, { mode: 0o700 });
    this.#lock = claimDirectory(this.#marker);
  }

  /** The restore is whole. */
  finish(): void {
    rmSync(this.#marker, { recursive: true, force: true });
    syncFolder(this.#dataDir);
    this.release();
  }

  /** Lets the next restore take over. */
  release(): void {
    this.#lock?.release();
    this.#lock = null;
  }

  /** @throws BackupError  unless the folder is empty but for what an operator has put there, or can be taken over */
  requireFree(): void {
    if (existsSync(this.#marker)) return;
    const names = existsSync(this.#dataDir) ? readdirSync(this.#dataDir) : [];
    const found = names.find((name) => !OWN_FILES.includes(name));
    if (found === undefined) return;
    const isBegun = names.includes('database') && !names.includes(NODE_ID);
    const what = isBegun ? ', and no service has ended its first start there' : '';
    throw new BackupError(`DATA_DIR ${this.#dataDir} is not empty: it has ${found}${what}. Name an empty folder.`);
  }
}
