import { Readable, Writable } from 'node:stream';
import type { Command, Option } from 'commander';
import { COMMANDS } from '../cli/catalogue.ts';
import { buildProgram, loadCommand } from '../cli/program.ts';
import { SERVER_COMMANDS } from '../src/cli/server-commands.ts';

// The page is printed on every machine: nothing of this one may show.
const IO = {
  env: {},
  stdin: Readable.from([]),
  stdout: new Writable(),
  stderr: new Writable(),
  signal: new AbortController().signal,
};

/** The parts of docs/cli.md. */
export async function describeCommandLine(): Promise<string[]> {
  return [
    lines(
      '`verbatim` is one program for users of the API and for operators. In a clone of this project it is `bin/verbatim`. For a machine',
      'that has no clone, `node scripts/build-cli.ts` makes an npm package, which has all commands that need nothing but',
      'a running service.',
    ),
    lines(
      '```sh',
      'verbatim init                              # asks for URL and key, writes a profile',
      'verbatim transcribe *.mp3 -o srt --out subs',
      'verbatim live                              # the microphone, until Ctrl-C',
      'verbatim jobs list --all --json | jq -r .id',
      'verbatim doctor                            # looks for what is wrong',
      '```',
    ),
    '## Output and exit codes',
    lines(
      'Results go to standard output, all else to standard error. `--json` prints the answer of the API with all digits of its numbers; a',
      'list with `--all` as one line for each entry (NDJSON). `-q` prints ids only. Control characters in file names, transcripts and other',
      'data are shown as `\\x1b`, so that data cannot control the terminal. No command asks a question when standard input is not a terminal,',
      'and each question has an option in its place.',
    ),
    exitCodes([
      ['0', 'done; also when the reader of a list ends first, such as `head`'],
      ['1', 'failed'],
      ['2', 'wrong use: an option, an argument, or a field that the API refuses'],
      ['4', 'not signed in: no key, or an unknown one'],
      ['5', 'not found'],
      ['6', 'out of credits'],
      ['7', 'rate limited, after some tries'],
      ['130', 'interrupted by Ctrl-C; jobs that were created go on'],
    ]),
    '## Profiles and environment',
    lines(
      '`verbatim init` writes URL and key to `verbatim/profiles.json` in `XDG_CONFIG_HOME` (default `~/.config`), readable by its owner only',
      '(mode 0600). A file that others can read is refused. `--profile` names one of several profiles. Without it `VERBATIM_URL` and',
      '`VERBATIM_API_KEY` go before the current profile. The key of a profile is never sent to another host than that of the profile.',
    ),
    lines(
      'The commands under "Operate" take `ADMIN_TOKEN`, or the token that the service keeps in `DATA_DIR/admin-token`, and `VERBATIM_URL`, or',
      'the service on this machine. `VERBATIM_WEBHOOK_SECRET` is the secret of `verbatim signature`. `NO_COLOR` switches colors off.',
    ),
    ...(await describeCommands()),
  ];
}

function lines(...parts: string[]): string {
  return parts.join('\n');
}

function exitCodes(rows: string[][]): string {
  return [['code', 'meaning'], ['---', '---'], ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** All commands of the program, by the groups of its help. */
async function describeCommands(): Promise<string[]> {
  const rows = [...COMMANDS, ...SERVER_COMMANDS];
  const program = buildProgram(rows, IO);
  const parts = ['## Options of every command', optionTable(program.options)];
  for (const group of new Set(rows.map((row) => row.group))) {
    parts.push(`## ${group.replace(':', '')}`);
    for (const { name } of rows.filter((row) => row.group === group)) {
      const command = program.commands.find((one) => one.name() === name)!;
      await loadCommand(command);
      parts.push(...describeCommand(command, 3));
    }
  }
  return parts;
}

function describeCommand(command: Command, level: number): string[] {
  const help = command.createHelp();
  const options = command.options.filter(({ hidden }) => !hidden);
  const isGroup = command.commands.length > 0;
  const parts = [`${'#'.repeat(level)} \`${pathOf(command)}\``, sentence(command.description())];
  if (!isGroup) parts.push(`\`\`\`\n${help.commandUsage(command)}\n\`\`\``);
  const args = command.registeredArguments.filter(({ description }) => description);
  const names = args.map((argument) => [`\`${argument.name()}\``, argument.description, '']);
  if (names.length + options.length > 0) {
    parts.push(table([...names, ...options.map(optionRow)]));
  }
  return [...parts, ...command.commands.flatMap((one) => describeCommand(one, level + 1))];
}

function optionTable(options: readonly Option[]): string {
  return table(options.map(optionRow));
}

function optionRow({ flags, description, argChoices, defaultValue }: Option): string[] {
  const values = argChoices?.map((choice) => `\`${choice}\``).join(', ') ?? '';
  const fallback = defaultValue === undefined ? '' : ` (default: ${String(defaultValue)})`;
  return [`\`${flags}\``, `${description}${fallback}`, values];
}

/** Not padded: a longer cell would change every line of a table that changes often. */
function table(rows: string[][]): string {
  const isPlain = rows.every(([, , values]) => values === '');
  const cells = [['', 'meaning', 'values'], ['---', '---', '---'], ...rows];
  return cells
    .map((row) => `| ${(isPlain ? row.slice(0, 2) : row).map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

function sentence(text: string): string {
  const start = text.startsWith('verbatim') ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return start.endsWith('.') ? start : `${start}.`;
}
