import * as fs from 'node:fs';

/** A file as a Blob, which is read when it is sent. */
export async function openFile(path: string): Promise<Blob> {
  // Older versions of other runtimes lack it.
  return fs.openAsBlob ? await fs.openAsBlob(path) : new Blob([await fs.promises.readFile(path)]);
}
