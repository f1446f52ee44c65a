import { COMMANDS } from './catalogue.ts';
import type { CommandRow, Io } from './command.ts';
import { CommandError, EXIT, OutputClosed, OutputFailed } from './exit.ts';
import { buildProgram } from './program.ts';
import { safeBlock } from './terminal/safe-text.ts';
import { describeSystemError } from './terminal/system-error.ts';

/**
 * Runs the program once; resolves to its exit code.
 * @param args  the words after `verbatim`
 */
export async function runCli(args: string[], io: Io, rows: readonly CommandRow[] = COMMANDS): Promise<number> {
  // "verbatim help jobs list" is "verbatim jobs list --help".
  const words = args[0] === 'help' ? [...args.slice(1), '--help'] : args;
  try {
    if (args[0] === '__complete') {
      const { printCompletions } = await import('./completions.ts');
      await printCompletions(buildProgram(rows, io), args.slice(1), io);
      return EXIT.done;
    }
    await buildProgram(rows, io).parseAsync(words.length === 0 ? ['--help'] : words, { from: 'user' });
    return EXIT.done;
  } catch (error) {
    if (io.signal.reason instanceof OutputFailed) return EXIT.failed;
    if (error instanceof CommandError) return fail(io, error.message, error.exitCode);
    if (io.signal.reason instanceof OutputClosed) return EXIT.done;
    const code = exitCodeOfUsage(error);
    if (code !== null) return code;
    // Loaded here, because most runs do not fail and need no client of the API.
    const { describeFailure } = await import('./failure.ts');
    const { message, exitCode } = describeFailure(error, io.signal);
    return fail(io, message, exitCode);
  }
}

/** Runs the program with the arguments, streams and signals of this process. Sets the exit code. */
export async function runProcess(rows: readonly CommandRow[] = COMMANDS): Promise<void> {
  const stop = new AbortController();
  process.on('SIGINT', () => {
    // A second Ctrl-C ends the process at once.
    if (stop.signal.aborted) process.exit(EXIT.interrupted);
    stop.abort();
  });
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return stop.abort(new OutputClosed());
      if (stop.signal.reason instanceof OutputFailed) return;
      stop.abort(new OutputFailed());
      process.exitCode = EXIT.failed;
      if (stream === process.stdout) fail(io, describeSystemError(error) ?? error.message, EXIT.failed);
    });
  }
  let stdin: typeof process.stdin | null = null;
  const io: Io = {
    env: process.env,
    stdout: process.stdout,
    stderr: process.stderr,
    signal: stop.signal,
    // Opened when it is read.
    get stdin() {
      stdin ??= process.stdin;
      return stdin;
    },
  };
  // What nothing waits for, such as a stream that fails before it is read.
  process.on('uncaughtException', (error) => {
    const message = describeSystemError(error);
    if (message === null) console.error(error);
    process.exit(fail(io, message ?? '', EXIT.failed));
  });
  const code = await runCli(process.argv.slice(2), io, rows);
  process.exitCode = stop.signal.reason instanceof OutputFailed ? EXIT.failed : code;
  // An input that has not ended would keep the process alive.
  (stdin as typeof process.stdin | null)?.destroy();
}

function fail(io: Io, message: string, exitCode: number): number {
  if (message) io.stderr.write(`verbatim: ${safeBlock(message).trimEnd()}\n`);
  return exitCode;
}

/** The exit code for what commander throws, after it has written its message or the help; null for other errors. */
function exitCodeOfUsage(error: unknown): number | null {
  const { code, exitCode } = error as { code?: unknown; exitCode?: unknown };
  if (typeof code !== 'string' || !code.startsWith('commander.')) return null;
  return exitCode === 0 ? EXIT.done : EXIT.wrongUse;
}

if (import.meta.main) await runProcess();
