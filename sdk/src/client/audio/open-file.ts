/** A file as a Blob, which is read when it is sent. */
export async function openFile(path: string): Promise<Blob> {
  // Loaded here: it would take half of the time in which the client loads.
  const fs = await import('node:fs');
  // Older versions of other runtimes lack it.
  return fs.openAsBlob ? await fs.openAsBlob(path) : new Blob([await fs.promises.readFile(path)]);
}
