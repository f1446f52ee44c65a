import type { TranscribeProgress } from '#sdk/client/index.ts';
import { clockTime } from '../../terminal/format.ts';
import type { Output } from '../../terminal/output.ts';
import { clip, type Part } from '../../terminal/part.ts';
import { safeLine } from '../../terminal/safe-text.ts';

/**
 * A part of the way of an input. `wait`: for the rate limit; its `part` is how many seconds the service asked to wait.
 */
export type Phase = TranscribeProgress | { phase: 'wait'; part: number };

/** Shows how far the inputs are. */
export type Progress = {
  /** Whether `update` shows anything. */
  isLive: boolean;
  update(at: number, phase: Phase): void;
  /** Shows the result of an input, which stays on the screen. */
  finish(at: number, result: string, how: 'done' | 'failed'): void;
  /** Removes what does not stay. */
  end(): void;
};

const REDRAW_MS = 100;
const COUNTDOWN_MS = 1_000;
const BAR_WIDTH = 12;
const LONGEST_NAME = 40;
const EIGHTHS = ' ▏▎▍▌▋▊▉';

type Row = { name: string; phase: Phase; startedMs: number };

/**
 * On a terminal, bars on standard error for the inputs under way, and below them how many wait; else one line for each
 * input when it ends. Nothing with --quiet.
 */
export function openProgress(out: Output, inputs: readonly { label: string }[]): Progress {
  const names = inputs.map(({ label }) => shortName(label));
  const width = Math.max(...names.map((name) => name.length));
  return out.stderr.isTTY && out.mode !== 'ids' ? new Bars(out, names, width) : openLines(out, names, width);
}

function openLines(out: Output, names: string[], width: number): Progress {
  return {
    isLive: false,
    update: () => undefined,
    finish: (at, result, how) => out.note(...finalLine(names[at]!, width, result, how)),
    end: () => undefined,
  };
}

class Bars implements Progress {
  readonly isLive = true;
  readonly #out: Output;
  readonly #names: string[];
  readonly #width: number;
  readonly #rows = new Map<number, Row>();
  // Nothing else redraws the seconds of a wait.
  readonly #countdown = setInterval(() => this.#drawWaits(), COUNTDOWN_MS).unref();
  #finished = 0;
  #drawnLines = 0;
  #drawnAtMs = 0;

  constructor(out: Output, names: string[], width: number) {
    this.#out = out;
    this.#names = names;
    this.#width = width;
  }

  update(at: number, phase: Phase): void {
    const before = this.#rows.get(at);
    const isSame = before?.phase.phase === phase.phase && phase.phase !== 'wait';
    const startedMs = isSame ? before!.startedMs : Date.now();
    this.#rows.set(at, { name: this.#names[at]!, phase, startedMs });
    if (!isSame || Date.now() - this.#drawnAtMs >= REDRAW_MS) this.#draw();
  }

  finish(at: number, result: string, how: 'done' | 'failed'): void {
    this.#rows.delete(at);
    this.#finished++;
    this.#erase();
    this.#out.note(...finalLine(this.#names[at]!, this.#width, result, how));
    this.#draw();
  }

  end(): void {
    clearInterval(this.#countdown);
    this.#erase();
  }

  #drawWaits(): void {
    if ([...this.#rows.values()].some(({ phase }) => phase.phase === 'wait')) this.#draw();
  }

  #draw(): void {
    this.#erase();
    this.#drawnAtMs = Date.now();
    const waiting = this.#names.length - this.#finished - this.#rows.size;
    const lines: Part[][] = [...this.#rows.values()].map((row) => this.#describe(row));
    if (waiting > 0) lines.push([{ text: `  ${waiting} more`, style: 'dim' }]);
    const columns = this.#out.stderr.columns ?? 80;
    for (const line of lines) this.#out.stderr.write(`${this.#out.renderNote(...clip(line, columns - 1))}\n`);
    this.#drawnLines = lines.length;
  }

  #erase(): void {
    // Up to the first line that was drawn, and clear from there on.
    if (this.#drawnLines > 0) this.#out.stderr.write(`\u001b[${this.#drawnLines}A\u001b[J`);
    this.#drawnLines = 0;
  }

  #describe({ name, phase, startedMs }: Row): Part[] {
    const label = `  ${name.padEnd(this.#width)}  `;
    if (phase.phase === 'wait') {
      const leftSeconds = Math.max(0, Math.ceil(phase.part - (Date.now() - startedMs) / 1_000));
      return [label, `waits ${leftSeconds} s for the rate limit`];
    }
    if (phase.phase === 'queue') {
      return [label, 'queued', phase.queuePosition === undefined ? '' : `, place ${phase.queuePosition}`];
    }
    const percent = `${Math.floor(phase.part * 100)}`.padStart(3);
    const bar: Part = { text: barOf(phase.part), style: phase.phase === 'upload' ? 'cyan' : 'green' };
    const verb = phase.phase === 'upload' ? 'upload' : 'transcribe';
    return [label, bar, ` ${percent} %  ${verb}${timeLeft(phase.part, Date.now() - startedMs)}`];
  }
}

function finalLine(name: string, width: number, result: string, how: 'done' | 'failed'): Part[] {
  return [`  ${name.padEnd(width)}  `, { text: how, style: how === 'done' ? 'green' : 'red' }, `  ${result}`];
}

function timeLeft(part: number, elapsedMs: number): string {
  if (part < 0.02 || part >= 1 || elapsedMs < 1_000) return '';
  return `, ${clockTime((elapsedMs / 1000) * (1 / part - 1))} left`;
}

function barOf(part: number): string {
  const eighths = Math.round(Math.max(0, Math.min(1, part)) * BAR_WIDTH * 8);
  const full = Math.floor(eighths / 8);
  const rest = eighths % 8 === 0 ? '' : EIGHTHS[eighths % 8]!;
  return `${'█'.repeat(full)}${rest}`.padEnd(BAR_WIDTH, '-');
}

function shortName(label: string): string {
  const name = safeLine(label);
  return name.length <= LONGEST_NAME ? name : `…${name.slice(1 - LONGEST_NAME)}`;
}
