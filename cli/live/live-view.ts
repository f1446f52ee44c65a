import type { LiveUpdate } from '#sdk/client/index.ts';
import { wordLines } from '../commands/transcription/word-lines.ts';
import { clockTime } from '../terminal/format.ts';
import type { Output, Screen } from '../terminal/output.ts';
import { safeLine } from '../terminal/safe-text.ts';

const START_OF_LINE = '\r\u001b[K';

/**
 * Shows what becomes known of a live session. On a terminal the words of the open segment stand in the last line, which
 * the final text replaces; else there is a line for each final segment. With --json all updates are lines of JSON.
 */
export class LiveView {
  readonly #out: Output;
  readonly #isResult: boolean;
  readonly #hasWords: boolean;
  /** Where the words of the open segment are shown; null: nowhere. */
  readonly #screen: Screen | null;
  #isOpen = false;

  /** @param isResult  the segments are what the command prints @param hasWords  with the times of their words */
  constructor(out: Output, { isResult, hasWords }: { isResult: boolean; hasWords: boolean }) {
    this.#out = out;
    this.#isResult = isResult;
    this.#hasWords = hasWords;
    const screen = isResult && out.stdout.isTTY ? out.stdout : out.stderr;
    this.#screen = out.mode === 'text' && screen.isTTY ? screen : null;
  }

  show(update: LiveUpdate): void {
    if (this.#out.mode === 'json') {
      const { type, ...data } = update;
      this.#out.jsonLine({ event: type, ...data });
    } else if (update.type === 'partial') this.#showOpen(update.text);
    else if (update.type === 'segment') this.#showSegment(update);
    else if (update.type === 'warning') this.#warn({ text: update.message, style: 'yellow' });
    else if (update.type === 'audio_lost')
      this.#warn({ text: 'Audio is lost: the service was away for too long, or the session had ended.', style: 'red' });
  }

  /** Removes the words of an open segment. */
  end(): void {
    if (this.#isOpen) this.#screen?.write(START_OF_LINE);
    this.#isOpen = false;
  }

  #showOpen(text: string): void {
    const screen = this.#screen;
    if (screen === null) return;
    const columns = (screen.columns ?? 80) - 1;
    const line = safeLine(text);
    // The last words are the new ones.
    screen.write(`${START_OF_LINE}${line.length <= columns ? line : `…${line.slice(1 - columns)}`}`);
    this.#isOpen = true;
  }

  #warn(warning: Parameters<Output['warn']>[0]): void {
    this.end();
    this.#out.warn(warning);
  }

  #showSegment(segment: LiveUpdate & { type: 'segment' }): void {
    this.end();
    const time = { text: `${clockTime(segment.start)}  `, style: 'dim' } as const;
    if (!this.#isResult) this.#out.note(time, segment.text);
    else if (this.#out.mode === 'ids') return;
    else if (this.#hasWords) this.#out.block(wordLines({ segments: [segment], text: segment.text }));
    else if (this.#out.stdout.isTTY) this.#out.line(time, segment.text);
    else this.#out.line(segment.text);
  }
}
