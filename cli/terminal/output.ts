import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { type Part, plainText } from './part.ts';
import { safeBlock, safeJson, safeLine } from './safe-text.ts';
import { alignColumns } from './table.ts';
import { relativeTime } from './time.ts';

export type Screen = Writable & { isTTY?: boolean; columns?: number; rows?: number };
export type ColorChoice = 'auto' | 'always' | 'never';

export type OutputOptions = {
  stdout: Screen;
  stderr: Screen;
  env: NodeJS.ProcessEnv;
  json?: boolean;
  quiet?: boolean;
  color?: ColorChoice;
};

/** An answer of the API, ready to be shown in each mode. */
export type Answer = {
  /** What --json prints. */
  json: unknown;
  /** What --quiet prints, one per line. */
  ids: string[];
  /** What is printed otherwise. */
  lines: Part[][];
};

/**
 * Writes the results of a command to standard output, and all else to standard error. Text that comes from data cannot
 * control the terminal.
 */
export class Output {
  readonly mode: 'text' | 'json' | 'ids';
  readonly stdout: Screen;
  readonly stderr: Screen;
  private readonly color: { stdout: boolean; stderr: boolean };

  constructor({ stdout, stderr, env, json, quiet, color = 'auto' }: OutputOptions) {
    this.mode = quiet ? 'ids' : json ? 'json' : 'text';
    this.stdout = stdout;
    this.stderr = stderr;
    this.color = { stdout: hasColor(stdout, color, env), stderr: hasColor(stderr, color, env) };
  }

  /** Writes an answer in the mode that the user has chosen. */
  show({ json, ids, lines }: Answer): void {
    if (this.mode === 'json') this.json(json);
    else if (this.mode === 'ids') for (const id of ids) this.line(id);
    else for (const parts of lines) this.line(...parts);
  }

  /** One line on standard output. */
  line(...parts: Part[]): void {
    this.stdout.write(`${render(parts, this.color.stdout)}\n`);
  }

  /**
   * Rows in columns on standard output, below a head; an empty one is left out. On a terminal, times are shown by how
   * long ago they were, and lines are as long as it is wide.
   */
  table(head: string[], rows: Part[][]): void {
    const shown = this.stdout.isTTY ? rows.map((row) => row.map((cell) => relativeTime(cell, new Date()))) : rows;
    const all = head.length > 0 ? [head.map((text) => ({ text, style: 'dim' as const })), ...shown] : shown;
    for (const row of alignColumns(all, this.stdout.isTTY ? this.stdout.columns : undefined)) this.line(...row);
  }

  /** Text of several lines, such as a transcript, on standard output. */
  block(text: string): void {
    const safe = safeBlock(text);
    this.stdout.write(safe.endsWith('\n') || safe === '' ? safe : `${safe}\n`);
  }

  /** Text of a file on standard output: unchanged, where that is no terminal. */
  file(text: string): void {
    if (this.stdout.isTTY) this.block(text);
    else this.stdout.write(text);
  }

  /** A JSON value on standard output, with two spaces of indentation. */
  json(value: unknown): void {
    this.stdout.write(`${safeJson(JSON.stringify(value, null, 2))}\n`);
  }

  /** A JSON value in one line on standard output (NDJSON). */
  jsonLine(value: unknown): void {
    this.stdout.write(`${safeJson(JSON.stringify(value))}\n`);
  }

  /**
   * Resolves when standard output takes more; at once unless its reader is slow.
   * @throws  when the signal is aborted
   */
  async drained(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.stdout.writableNeedDrain) await once(this.stdout, 'drain', { signal });
  }

  /** A line for the reader on standard error. Nothing with --quiet. */
  note(...parts: Part[]): void {
    if (this.mode !== 'ids') this.warn(...parts);
  }

  /** A line on standard error, also with --quiet. */
  warn(...parts: Part[]): void {
    this.stderr.write(`${render(parts, this.color.stderr)}\n`);
  }

  /** A line as `warn` writes it, without its end; for lines that are drawn again. */
  renderNote(...parts: Part[]): string {
    return render(parts, this.color.stderr);
  }
}

function render(parts: Part[], color: boolean): string {
  return parts
    .map((part) => {
      const text = safeLine(plainText(part));
      return color && typeof part !== 'string' ? styleText(part.style, text, { validateStream: false }) : text;
    })
    .join('');
}

/** By --color, else NO_COLOR (no-color.org), FORCE_COLOR and whether the stream is a terminal. */
function hasColor(stream: Screen, choice: ColorChoice, env: NodeJS.ProcessEnv): boolean {
  if (choice !== 'auto') return choice === 'always';
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR'] && env['FORCE_COLOR'] !== '0') return true;
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}
