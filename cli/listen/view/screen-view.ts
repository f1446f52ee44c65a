import type { Output } from '../../terminal/output.ts';
import { clip, type Part } from '../../terminal/part.ts';
import type { Attempt } from '../delivery/forwarder.ts';
import type { ForwardedEvent } from '../delivery/local-delivery.ts';
import { isEventFrame } from '../listener.ts';
import { openLineView } from './line-view.ts';
import type { View } from './view.ts';

/** An event with its last attempt; null: it has no target. `line`: how it is listed. */
type Row = { event: ForwardedEvent; attempt: Attempt | null; line: Part[] };

// Each holds its body, of 256 KiB in most cases at most.
const MAX_ROWS = 100;
const HELP: Part = {
  text: 'd details  ↑↓ select  r send again  e edit  o console  q quit',
  style: 'bold',
};
const OPEN = '\u001b[?1049h\u001b[?25l';
const CLOSE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const END_OF_LINE = '\u001b[K\r\n';
const END_OF_SCREEN = '\u001b[K\u001b[J';

/**
 * A screen on standard error with the last 100 events, of which one is selected; or with the request and the answer of
 * that one. It is drawn at most once in a turn of the event loop.
 */
export class ScreenView implements View, Disposable {
  readonly #out: Output;
  readonly #lines: View;
  readonly #rows = new Map<string, Row>();
  readonly #draw = () => this.#drawNow();
  /** Parts that the lines have written last, and notes. */
  #line: Part[] = [];
  #head: Part[] = [];
  #status: Part[] = [];
  /** Null: the newest event, whichever that is. */
  #selectedId: string | null = null;
  /** First line of the details that is shown; null: the list is shown. */
  #detailsFrom: number | null = null;
  #isPending = false;
  #isOpen = false;
  #isEnded = false;

  constructor(out: Output) {
    this.#out = out;
    const note = (...parts: Part[]) => this.note(...parts);
    const line = (...parts: Part[]) => {
      this.#line = parts;
    };
    this.#lines = openLineView({ mode: 'text', line, note }, { hasKeys: false });
    this.open();
  }

  /** Takes the terminal, at the start or from an editor. */
  open(): void {
    if (this.#isEnded) return;
    this.#isOpen = true;
    this.#out.stderr.on('resize', this.#draw).write(OPEN);
    this.#change();
  }

  /** Leaves the terminal as it was before. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#out.stderr.off('resize', this.#draw).write(CLOSE);
  }

  [Symbol.dispose](): void {
    this.#isEnded = true;
    this.close();
  }

  /** The selected event; null when none has come. */
  get selected(): ForwardedEvent | null {
    return this.#selectedRow()?.event ?? null;
  }

  /** Selects the event above or below the selected one, or scrolls its details. */
  move(by: 1 | -1): void {
    if (this.#detailsFrom !== null) this.#detailsFrom = Math.max(0, this.#detailsFrom + by);
    else {
      const ids = [...this.#rows.keys()];
      const at = Math.max(0, this.#selectedAt() + by);
      this.#selectedId = at < ids.length - 1 ? ids[at]! : null;
    }
    this.#change();
  }

  /** Shows the request and the answer of the selected event, or the list again. */
  toggleDetails(): void {
    this.#detailsFrom = this.#detailsFrom === null ? 0 : null;
    // Otherwise the next event would take its place.
    this.#selectedId = this.selected?.id ?? null;
    this.#change();
  }

  /** Shows a line at the bottom, until the next one. */
  note(...parts: Part[]): void {
    this.#status = parts;
    this.#change();
  }

  start(info: Parameters<View['start']>[0]): void {
    this.#lines.start(info);
    [this.#head, this.#status] = [this.#status, []];
  }

  frame(frame: Parameters<View['frame']>[0], isForwarded: boolean): void {
    this.#lines.frame(frame, isForwarded);
    if (isEventFrame(frame) && !isForwarded) this.#add({ event: frame.data, attempt: null, line: this.#line });
  }

  attempt(attempt: Attempt): void {
    this.#lines.attempt(attempt);
    this.#add({ event: attempt.event, attempt, line: this.#line });
  }

  target(host: URL, isUp: boolean): void {
    this.#lines.target(host, isUp);
  }

  connection(state: Parameters<View['connection']>[0]): void {
    this.#lines.connection(state);
  }

  #add(row: Row): void {
    this.#rows.set(row.event.id, row);
    if (this.#rows.size > MAX_ROWS) this.#rows.delete(this.#rows.keys().next().value!);
    this.#change();
  }

  #selectedAt(): number {
    const at = this.#selectedId === null ? -1 : [...this.#rows.keys()].indexOf(this.#selectedId);
    return at < 0 ? this.#rows.size - 1 : at;
  }

  #selectedRow(): Row | undefined {
    return [...this.#rows.values()][this.#selectedAt()];
  }

  #change(): void {
    if (this.#isPending) return;
    this.#isPending = true;
    setImmediate(this.#draw);
  }

  #drawNow(): void {
    this.#isPending = false;
    if (!this.#isOpen) return;
    const { stderr } = this.#out;
    const [columns, height] = [stderr.columns ?? 80, Math.max(1, (stderr.rows ?? 24) - 4)];
    const main = this.#detailsFrom === null ? this.#list(height) : this.#details(height);
    const status = this.#status.length > 0 ? this.#status : summary(this.#selectedRow());
    const lines = [this.#head, [], ...main, status, [HELP]];
    const texts = lines.map((line) => this.#out.renderNote(...clip(line, columns)));
    stderr.write(HOME + texts.join(END_OF_LINE) + END_OF_SCREEN);
  }

  /** Exactly this number of lines, with the selected event among them. */
  #list(height: number): Part[][] {
    const selected = this.#selectedAt();
    const first = Math.max(0, Math.min(selected - Math.floor(height / 2), this.#rows.size - height));
    const lines = [...this.#rows.values()].map(({ line }, at): Part[] => [
      at === selected ? { text: '> ', style: 'bold' } : '  ',
      ...line,
    ]);
    return fill(lines.slice(first, first + height), height);
  }

  #details(height: number): Part[][] {
    const row = this.#selectedRow();
    const lines = row ? describe(row) : [['No events.']];
    this.#detailsFrom = Math.min(this.#detailsFrom!, Math.max(0, lines.length - height));
    return fill(lines.slice(this.#detailsFrom, this.#detailsFrom + height), height);
  }
}

function fill(lines: Part[][], height: number): Part[][] {
  return [...lines, ...Array.from({ length: height - lines.length }, () => [])];
}

/** Of the selected event: where it went, and the beginning of the answer. */
function summary(row: Row | undefined): Part[] {
  if (!row) return [{ text: 'Waiting for events.', style: 'dim' }];
  if (!row.attempt) return [{ text: 'Shown only: no target takes it.', style: 'dim' }];
  const { outcome, url } = row.attempt;
  const answer =
    outcome.kind === 'failed' ? outcome.message : `${outcome.status} ${outcome.body.trim().split('\n')[0]}`;
  return [{ text: `POST ${url.href}  ${answer}`, style: 'dim' }];
}

/** The request and the answer in lines. */
function describe({ event, attempt, line }: Row): Part[][] {
  if (attempt === null) return [line, [], ...linesOf(event.body)];
  const { request, outcome, url } = attempt;
  const answer: Part[][] =
    outcome.kind === 'failed'
      ? [[{ text: outcome.message, style: 'red' }]]
      : [[{ text: `${outcome.status}`, style: 'bold' }], ...headerLines(outcome.headers), [], ...linesOf(outcome.body)];
  const head: Part[] = [{ text: `POST ${url.href}`, style: 'bold' }];
  return [line, [], head, ...headerLines(request.headers), [], ...linesOf(request.body), [], ...answer];
}

function headerLines(headers: Readonly<Record<string, string | string[]>>): Part[][] {
  return Object.entries(headers).map(([name, value]) => [{ text: `${name}: `, style: 'dim' }, String(value)]);
}

/** JSON with indentation; another text as it is. */
function linesOf(text: string): Part[][] {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // It is no JSON.
  }
  return shown.split('\n').map((line) => [line]);
}
