import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from '../exit.ts';

/**
 * Asks the user for a line. The question goes to standard error.
 * @param flag      what to give instead, for the error where nobody can answer
 * @param isSecret  the answer is not shown
 * @throws UsageError  if standard input is not a terminal
 */
export async function ask(
  io: { stdin: NodeJS.ReadableStream & { isTTY?: boolean }; stderr: Writable; signal: AbortSignal },
  question: string,
  { flag, isSecret = false }: { flag: string; isSecret?: boolean },
): Promise<string> {
  if (!io.stdin.isTTY) throw new UsageError(`No terminal to ask on: give ${flag}.`);
  io.stderr.write(question);
  // readline echoes the answer to its output.
  const echo = isSecret ? new Writable({ write: (_chunk, _encoding, done) => done() }) : io.stderr;
  const reader = createInterface({ input: io.stdin, output: echo, terminal: true });
  try {
    return (await reader.question('', { signal: io.signal })).trim();
  } finally {
    reader.close();
    if (isSecret) io.stderr.write('\n');
  }
}
