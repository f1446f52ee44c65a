import { fsync, openSync } from 'node:fs';
import { promisify } from 'node:util';

const sync = promisify(fsync);

/** Makes the names of new files in a folder durable. Calls made while a sync runs share the next one. */
export class FolderSync {
  // Open until the process ends: opening the folder for each file would cost as much as the sync.
  readonly #descriptor: number;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(folder: string) {
    this.#descriptor = openSync(folder, 'r');
  }

  /** Resolves after a sync that began after this call. */
  sync(): Promise<void> {
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        this.#running = sync(this.#descriptor);
        return this.#running;
      });
    return this.#next;
  }
}
