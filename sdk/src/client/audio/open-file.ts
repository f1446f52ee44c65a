/**
 * A file as a Blob, which is read when it is sent.
 * @throws Error  of the system, with the path in its message, if there is no such file, it may not be read, or it is a
 *                folder
 */
export async function openFile(path: string): Promise<Blob> {
  // Loaded here: it would take half of the time in which the client loads.
  const fs = await import('node:fs');
  // The error of `openAsBlob` names neither the path nor the reason.
  await fs.promises.access(path, fs.constants.R_OK);
  if ((await fs.promises.stat(path)).isDirectory()) throw new Error(`${path} is a folder, not a file.`);
  // Older versions of other runtimes lack it.
  return fs.openAsBlob ? await fs.openAsBlob(path) : new Blob([await fs.promises.readFile(path)]);
}
