import type { LiveUpdate } from './live-messages.ts';

/** Updates that wait for their reader. Of the words of an open segment only the last ones are kept. */
export class LiveUpdates implements AsyncIterable<LiveUpdate> {
  #waiting: LiveUpdate[] = [];
  #end: { error: unknown } | null = null;
  #wake: (() => void) | null = null;

  push(update: LiveUpdate): void {
    const last = this.#waiting.at(-1);
    if (update.type === 'audio_lost' && last?.type === 'audio_lost') last.to = update.to;
    else {
      if (update.type === 'partial' && last?.type === 'partial') this.#waiting.pop();
      this.#waiting.push(update);
    }
    this.#wake?.();
  }

  /** Nothing more comes. @param error  thrown to the reader; null for none */
  end(error: unknown): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LiveUpdate> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next) yield next;
      else if (this.#end === null) await this.#more();
      else if (this.#end.error !== null) throw this.#end.error;
      else return;
    }
  }

  async #more(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}
