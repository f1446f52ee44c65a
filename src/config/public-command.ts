import path from 'node:path';

/** The command `verbatim` in texts that clients get, who cannot type a path of the server's disk. */
export function publicCommand(command: string): string {
  return path.isAbsolute(command) ? 'verbatim' : command;
}
