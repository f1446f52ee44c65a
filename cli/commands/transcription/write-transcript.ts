import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { CommandError } from '../../exit.ts';

/**
 * Makes sure, before audio is sent and charged, that its transcript can be written to a file: makes its folder, and
 * writes an empty file there.
 * @throws CommandError  when the name is too long
 * @throws Error  of the file system
 */
export async function requireWritable(target: string): Promise<void> {
  await fs.mkdir(path.dirname(target), { recursive: true });
  await fs.lstat(target).catch((cause: NodeJS.ErrnoException) => {
    const name = path.basename(target);
    if (cause.code === 'ENAMETOOLONG')
      throw new CommandError(`The name ${name} is too long for a file: rename the audio.`);
    if (cause.code !== 'ENOENT') throw cause;
  });
  const part = partOf(target);
  await fs.writeFile(part, '', { flag: 'wx' });
  await fs.rm(part);
}

/** Writes a file so that nobody sees a part of it. A link at its place is replaced, not followed. */
export async function writeWhole(
  target: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> {
  const part = partOf(target);
  await fs.mkdir(path.dirname(target), { recursive: true });
  try {
    await fs.writeFile(part, content, { flag: 'wx' });
    await fs.rename(part, target);
  } catch (cause) {
    await fs.rm(part, { force: true });
    throw cause;
  }
}

/** A name that nobody can guess, and which is short however long the file's own name is. */
function partOf(target: string): string {
  return path.join(path.dirname(target), `.${randomUUID()}.part`);
}
