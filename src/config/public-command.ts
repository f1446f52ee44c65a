import path from 'node:path';
import type { Config } from './settings.ts';

/** The command `verbatim` in texts that clients get, who cannot type a path of the server's disk. */
export function publicCommand({ command }: Pick<Config, 'command'>): string {
  return path.isAbsolute(command) ? 'verbatim' : command;
}
