import type { Command } from 'commander';
import { runHealth } from '../../bin/health.js';
import { action, type Io } from '../command.ts';
import { CommandError } from '../exit.ts';

/** `verbatim health`, as part of the help: the programs run it before they load anything else. */
export function define(command: Command, io: Io): void {
  command
    .description('whether the service of this folder, or at HOST and PORT, runs: exit code 0 or 1')
    .option('--ready', 'whether it can do its work')
    .action(
      action<[], { ready?: boolean }>(io, async (_session, { ready }) => {
        const code = await runHealth(ready ? ['--ready'] : []);
        if (code !== 0) throw new CommandError('', code);
      }),
    );
}
