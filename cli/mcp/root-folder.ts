import fs from 'node:fs';
import path from 'node:path';

/** A file that may not be read; the message is for the client. */
export class FileRefused extends Error {}

/**
 * The real path of a regular file inside of a folder. Symbolic links are followed first: a link inside that leads
 * outside is refused, and so is one that leads outside on its way.
 * @param given  absolute, or relative to the folder
 * @throws FileRefused
 */
export async function findFileInside(folder: string, given: string): Promise<string> {
  const root = await fs.promises.realpath(folder);
  const file = await realPathOf(path.resolve(root, given), given);
  if (!isInside(root, file)) throw new FileRefused(`${given} is outside of ${root}; --root names another folder.`);
  const found = await fs.promises.stat(file);
  if (!found.isFile()) throw new FileRefused(`${given} is not a file.`);
  await fs.promises.access(file, fs.constants.R_OK).catch((cause) => {
    throw new FileRefused(`${given} cannot be read.`, { cause });
  });
  return file;
}

async function realPathOf(file: string, given: string): Promise<string> {
  try {
    return await fs.promises.realpath(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new FileRefused(code === 'ENOENT' ? `There is no file ${given}.` : `${given} cannot be read.`, { cause });
  }
}

function isInside(root: string, file: string): boolean {
  const relative = path.relative(root, file);
  return relative !== '' && relative.split(path.sep)[0] !== '..' && !path.isAbsolute(relative);
}
