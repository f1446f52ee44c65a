import { Command, Option } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import type { CommandRow, Io } from './command.ts';
import { typed } from './typed.ts';

const DOCUMENTATION = `
Environment:
  VERBATIM_URL, VERBATIM_API_KEY  service and key, in place of a profile
  ADMIN_TOKEN                     token of the operator, for the commands under "Operate"
  NO_COLOR                        no colors

Exit codes:
  0 done, 1 failed, 2 wrong use, 4 not signed in, 5 not found, 6 out of credits, 7 rate limited, 130 interrupted
`;

/** Of the commands that are not loaded yet. */
const LOADERS = new WeakMap<Command, () => Promise<void>>();

/**
 * The program with all commands. The file of a command is loaded before its arguments are parsed, so that each run
 * loads one command only. Mistakes throw CommanderError.
 */
export function buildProgram(rows: readonly CommandRow[], io: Io): Command {
  const program = new Command(typed(io.env))
    .description('Transcription with durable jobs and signed webhooks')
    .version(manifest.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addOption(
      new Option('--json', "print the API's answer; one line for each entry with --all").helpGroup('Global options:'),
    )
    .addOption(new Option('-q, --quiet', 'print ids only').helpGroup('Global options:'))
    .addOption(new Option('--profile <name>', 'use this profile').helpGroup('Global options:'))
    .addOption(new Option('--url <url>', 'use the service at this URL').helpGroup('Global options:'))
    .addOption(
      new Option('--color <when>', 'use colors').choices(['auto', 'always', 'never']).helpGroup('Global options:'),
    )
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride()
    .showSuggestionAfterError()
    .addHelpText('after', DOCUMENTATION);
  for (const { name, summary, group } of rows) program.command(name).description(summary).helpGroup(group);
  for (const command of program.commands) {
    const row = rows.find(({ name }) => name === command.name())!;
    LOADERS.set(command, async () => (await row.load()).define(command, io));
  }
  return program.hook('preSubcommand', (_program, command) => loadCommand(command));
}

/** Loads the file of a command, which adds the arguments, options and subcommands; the first time only. */
export async function loadCommand(command: Command): Promise<void> {
  const load = LOADERS.get(command);
  LOADERS.delete(command);
  await load?.();
}
