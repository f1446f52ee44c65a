import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import programs from '../../bin/programs.json' with { type: 'json' };
import type { CommandRow, Group } from '../../cli/command.ts';
import { ROOT } from '../platform/installation.ts';

type Program = { group: string; summary: string; arguments?: string };

/**
 * The commands that need the files of the service: its models, its database, and the programs that bin/verbatim starts.
 */
export const SERVER_COMMANDS: readonly CommandRow[] = [
  {
    name: 'models',
    group: 'Operate:',
    summary: 'list, pull and remove speech models',
    load: () => import('./models.ts'),
  },
  {
    name: 'database',
    group: 'Operate:',
    summary: 'spread the tables of DATABASE_URL over the workers of a Citus cluster',
    load: () => import('./database.ts'),
  },
  {
    name: 'backup',
    group: 'Operate:',
    summary: 'write a backup of the running service to one file, and check such a file',
    load: () => import('./backup.ts'),
  },
  {
    name: 'restore',
    group: 'Operate:',
    summary: 'load a backup into an empty DATA_DIR or database',
    load: () => import('./restore.ts'),
  },
  ...Object.entries<Program>(programs)
    .filter(isHere)
    .map(([name, program]) => ({
      name,
      group: program.group as Group,
      summary: program.summary,
      // For the help; bin/verbatim runs these commands itself.
      load: async () => ({
        define: (command: Command) => void (program.arguments && command.arguments(program.arguments)),
      }),
    })),
];

/** Images and published packages do not have the files of the commands for developers. */
function isHere([, { group }]: [string, Program]): boolean {
  return group !== 'Develop:' || existsSync(path.join(ROOT, 'test'));
}
