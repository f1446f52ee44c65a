/** A change of one segment, as the API takes it; null brings back the original text. */
export type SegmentChange = { index: number; text: string | null };

/** How the edit of one segment stands. */
export type SegmentEdit =
  | { kind: 'waiting'; text: string }
  | { kind: 'saving'; text: string }
  | { kind: 'saved'; text: string }
  /** The segment was changed elsewhere meanwhile: nothing is saved until the reader chooses. */
  | { kind: 'conflict'; text: string; theirs: string }
  | { kind: 'failed'; text: string; error: unknown };

export type EditDeps = {
  /** The texts of all segments, as they are stored now. */
  read(): Promise<readonly string[]>;
  /** Stores changes and gives the texts of all segments after that. */
  save(changes: SegmentChange[]): Promise<readonly string[]>;
  /** Calls back after this time; the result takes that back. */
  later(delayMs: number, callback: () => void): () => void;
};

/** A pause in typing of this length saves the text. */
const SAVE_AFTER_MS = 800;
// As many as the API takes at once.
const MAX_CHANGES = 500;

/**
 * The edits of a transcript in this tab. They are saved by themselves, one request at a time, and are kept here until
 * that has succeeded. A segment that was changed elsewhere since it was read is never overwritten without a question.
 */
export class EditSession {
  readonly #deps: EditDeps;
  /** As last read. */
  #stored: readonly string[];
  /** The texts of a change that is to be sent; null for the original. */
  readonly #unsent = new Map<number, string | null>();
  readonly #edits = new Map<number, SegmentEdit>();
  readonly #listeners = new Set<() => void>();
  #cancelTimer: (() => void) | null = null;
  #running: Promise<void> | null = null;

  constructor(stored: readonly string[], deps: EditDeps) {
    this.#stored = stored;
    this.#deps = deps;
  }

  /** The edit of a segment; undefined where nothing was edited here. The same object until it changes. */
  of(index: number): SegmentEdit | undefined {
    return this.#edits.get(index);
  }

  /** The stored texts of all segments. The same array until it changes. */
  get stored(): readonly string[] {
    return this.#stored;
  }

  /** Whether closing the page would lose something. */
  get isUnsaved(): boolean {
    return [...this.#edits.values()].some(({ kind }) => kind !== 'saved');
  }

  /** Calls back after each change. @returns a function that ends it */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Takes a text as it is typed. */
  type(index: number, text: string): void {
    if (text === (this.#edits.get(index)?.text ?? this.#stored[index])) return;
    this.#put(index, text, text);
    this.#saveLater(SAVE_AFTER_MS);
  }

  /** Brings the original text back. */
  restore(index: number, original: string): Promise<void> {
    this.#put(index, null, original);
    return this.flush();
  }

  /** Ends a conflict with the own text, or with that of the other side. */
  resolve(index: number, choice: 'mine' | 'theirs'): Promise<void> {
    const edit = this.#edits.get(index);
    if (edit?.kind !== 'conflict') return Promise.resolve();
    this.#stored = this.#stored.with(index, edit.theirs);
    if (choice === 'mine') this.#put(index, edit.text, edit.text);
    else this.#forget(index);
    return this.flush();
  }

  /** Saves all that is typed now, also what failed before. Never rejects: what failed is shown at the segments. */
  async flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    for (const [index, edit] of this.#edits)
      if (edit.kind === 'failed') this.#set(index, { kind: 'waiting', text: edit.text });
    while (this.#running !== null) await this.#running;
    if (this.#sendable().length === 0) return this.#tell();
    this.#running = this.#saveNow().finally(() => {
      this.#running = null;
    });
    await this.#running;
  }

  async #saveNow(): Promise<void> {
    const changes = this.#sendable().slice(0, MAX_CHANGES);
    for (const { index } of changes) this.#set(index, { kind: 'saving', text: this.#edits.get(index)!.text });
    this.#tell();
    try {
      const free = this.#withoutConflicts(changes, await this.#deps.read());
      if (free.length > 0) this.#takeStored(free, await this.#deps.save(free));
    } catch (error) {
      for (const { index } of changes) this.#fail(index, error);
    }
    this.#tell();
    if (this.#sendable().length > 0) this.#saveLater(SAVE_AFTER_MS);
  }

  /** The changes of segments that are still as they were read; the others become conflicts. */
  #withoutConflicts(changes: SegmentChange[], now: readonly string[]): SegmentChange[] {
    return changes.filter(({ index }) => {
      const edit = this.#edits.get(index)!;
      const theirs = now[index] ?? '';
      if (theirs === this.#stored[index] || theirs === edit.text) return true;
      this.#unsent.delete(index);
      this.#set(index, { kind: 'conflict', text: edit.text, theirs });
      return false;
    });
  }

  /** Typing may have gone on during the request: that text is sent next. */
  #takeStored(sent: SegmentChange[], stored: readonly string[]): void {
    const open = [...this.#edits].filter(([, { kind }]) => kind === 'conflict').map(([index]) => index);
    // In a conflict the text that was read stays the one that the reader started from.
    this.#stored = stored.map((text, index) => (open.includes(index) ? this.#stored[index]! : text));
    for (const { index, text } of sent) {
      if (this.#unsent.get(index) !== text) continue;
      this.#unsent.delete(index);
      this.#set(index, { kind: 'saved', text: stored[index] ?? '' });
    }
  }

  #fail(index: number, error: unknown): void {
    const edit = this.#edits.get(index);
    if (edit?.kind === 'saving') this.#set(index, { kind: 'failed', text: edit.text, error });
  }

  #sendable(): SegmentChange[] {
    return [...this.#unsent]
      .filter(([index]) => this.#edits.get(index)?.kind === 'waiting')
      .map(([index, text]) => ({ index, text }));
  }

  #put(index: number, change: string | null, text: string): void {
    this.#unsent.set(index, change);
    this.#set(index, { kind: 'waiting', text });
    this.#tell();
  }

  #forget(index: number): void {
    this.#unsent.delete(index);
    this.#edits.delete(index);
    this.#tell();
  }

  #set(index: number, edit: SegmentEdit): void {
    this.#edits.set(index, edit);
  }

  #saveLater(delayMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#deps.later(delayMs, () => void this.flush());
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
