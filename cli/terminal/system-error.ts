/**
 * What to tell about an error of the operating system, such as a file that is not there: the path, and what to do. Null
 * for all other errors.
 * @param place  named where the error has no path
 */
export function describeSystemError(error: unknown, place = 'The output'): string | null {
  if (!(error instanceof Error)) return null;
  const { code = '', path, dest, syscall } = error as NodeJS.ErrnoException & { dest?: string };
  const say = SENTENCES[code];
  if (!say) return null;
  return `${say(dest ?? path ?? (syscall === 'read' ? 'The input' : place))} (${code})`;
}

const SENTENCES: Record<string, (place: string) => string> = {
  ENOENT: (place) => `${place}: there is no such file or folder. Check the path.`,
  ENOTDIR: (place) => `${place}: a part of the path is a file, not a folder. Check the path.`,
  EISDIR: (place) => `${place} is a folder. Name a file.`,
  EEXIST: (place) => `${place} exists already. Name another file, or remove it first.`,
  EACCES: (place) => `${place}: this user may not use it. Change its owner or mode, or run as another user.`,
  EPERM: (place) => `${place}: this user may not use it. Change its owner or mode, or run as another user.`,
  EROFS: (place) => `${place} is on a read-only file system. Name a place that can be written to.`,
  ENOSPC: (place) => `${place} cannot be written: no space is left. Free some space, then run the command again.`,
  EDQUOT: (place) => `${place} cannot be written: the quota of this user is used up. Free some space.`,
  EFBIG: (place) => `${place} cannot be written: the file would be larger than allowed.`,
  ENAMETOOLONG: (place) => `${place}: the name is too long. Choose a shorter one.`,
  ELOOP: (place) => `${place}: its links lead in a circle. Check the path.`,
  ENOTEMPTY: (place) => `${place} is a folder with files in it. Empty it, or name another.`,
  EXDEV: (place) => `${place} is on another disk. Name a place on the same disk.`,
  EIO: (place) => `${place}: the disk reports an error. Check the disk.`,
  EBUSY: (place) => `${place} is in use. Stop what uses it, then run the command again.`,
  EMFILE: () => 'This process has too many open files. Raise the limit (ulimit -n).',
  ENFILE: () => 'The machine has too many open files. Raise its limit (fs.file-max).',
};
