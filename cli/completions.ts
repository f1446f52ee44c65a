import type { Command, Option } from 'commander';
import type { Io } from './command.ts';
import { loadCommand } from './program.ts';
import { safeLine } from './terminal/safe-text.ts';

type Candidate = { value: string; description: string };

/**
 * Prints what may stand at the cursor, one candidate per line, for the scripts of `verbatim completion`. Nothing where
 * a file may stand.
 * @param args  the form: `plain`, `zsh` or `fish`, the latter two with descriptions; then the words up to the cursor
 */
export async function printCompletions(program: Command, [form, ...words]: string[], io: Io): Promise<void> {
  for (const candidate of await completeWords(program, words)) io.stdout.write(`${write(candidate, form)}\n`);
}

function write({ value, description }: Candidate, form: string | undefined): string {
  const text = safeLine(description);
  if (form === 'fish') return `${value}\t${text}`;
  return form === 'zsh' ? `${value.replaceAll(':', '\\:')}:${text}` : value;
}

async function completeWords(program: Command, words: string[]): Promise<Candidate[]> {
  const last = words.at(-1) ?? '';
  let command = program;
  let option: Option | null = null;
  for (const word of words.slice(0, -1)) {
    if (option) {
      option = null;
    } else if (word.startsWith('-')) {
      const named = optionsOf(command).find(({ long, short }) => word === long || word === short);
      option = named?.required ? named : null;
    } else {
      const next = command.commands.find((one) => one.name() === word);
      if (!next) continue;
      await loadCommand(next);
      command = next;
    }
  }
  return candidatesOf(command, option, last).filter(({ value }) => value.startsWith(last));
}

function candidatesOf(command: Command, option: Option | null, last: string): Candidate[] {
  if (option) return choices(option.argChoices);
  if (last.startsWith('-')) {
    const options = optionsOf(command).filter(({ hidden }) => !hidden);
    return [
      ...options.map(({ long, description }) => ({ value: long!, description })),
      { value: '--help', description: 'print the help' },
    ];
  }
  if (command.commands.length > 0) {
    return command.commands.map((one) => ({ value: one.name(), description: one.description() }));
  }
  return choices(command.registeredArguments[0]?.argChoices);
}

function choices(values: readonly string[] = []): Candidate[] {
  return values.map((value) => ({ value, description: '' }));
}

/** The options of the command and of the program. */
function optionsOf(command: Command): Option[] {
  return [...command.options, ...(command.parent ? optionsOf(command.parent) : [])];
}
