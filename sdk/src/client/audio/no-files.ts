/** Stands for `openFile` where there is no file system. */
export function openFile(_path: string): Promise<Blob> {
  return Promise.reject(new TypeError('There are no files here: pass the audio as a Blob, bytes or a stream.'));
}
