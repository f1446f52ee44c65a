import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CommandError } from '../exit.ts';

const OTHERS = 0o077;

/** The folder with the user's profiles: `verbatim` in XDG_CONFIG_HOME, else in `~/.config`; in APPDATA on Windows. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  const given = process.platform === 'win32' ? env['APPDATA'] : env['XDG_CONFIG_HOME'];
  const base = given && path.isAbsolute(given) ? given : path.join(env['HOME'] || os.homedir(), '.config');
  return path.join(base, 'verbatim');
}

/**
 * The JSON value in a file that only its owner may read; null if there is no such file.
 * @param advice  what to do when the file is not JSON
 * @throws CommandError  if others may read the file, or it is not JSON
 */
export function readPrivateJson(file: string, advice: string): unknown {
  const text = readPrivateFile(file);
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CommandError(`${file} is not JSON: ${advice}`, undefined, { cause });
  }
}

/** Replaces a file with a JSON value that only its owner may read (mode 0600), in one step. */
export function writePrivateJson(file: string, value: unknown): void {
  const temporary = `${file}.${process.pid}.new`;
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  try {
    fs.writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    fs.renameSync(temporary, file);
  } catch (cause) {
    fs.rmSync(temporary, { force: true });
    throw new CommandError(`${file} cannot be written: ${(cause as Error).message}`, undefined, { cause });
  }
}

/** The mode is read from the opened file, so that the file cannot be exchanged in between. */
function readPrivateFile(file: string): string | null {
  let opened: number;
  try {
    opened = fs.openSync(file, 'r');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CommandError(`${file} cannot be read: ${(cause as Error).message}`, undefined, { cause });
  }
  try {
    const { mode } = fs.fstatSync(opened);
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
      const found = (mode & 0o777).toString(8);
      throw new CommandError(`${file} holds keys, but others may read it (mode ${found}): run chmod 600 ${file}`);
    }
    return fs.readFileSync(opened, 'utf8');
  } finally {
    fs.closeSync(opened);
  }
}
