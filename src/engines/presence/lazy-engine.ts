import type { ModelRequest } from '../../rules/jobs/choose-model.ts';
import { type Engine, EngineError, type Pcm, type TranscribeOptions, type Transcript } from '../engine.ts';

type LazyOptions = {
  /** Until it is open. */
  name: string;
  slots: number;
  /** @throws EngineError  that says what to do */
  open(): Promise<Engine>;
};

/** An engine that its first call opens; after a failure, the next call tries again. */
export class LazyEngine implements Engine {
  readonly #options: LazyOptions;
  #opened: Engine | null = null;
  #opening: Promise<Engine> | null = null;
  #isClosed = false;

  constructor(options: LazyOptions) {
    this.#options = options;
  }

  get name() {
    return this.#opened?.name ?? this.#options.name;
  }
  get slots() {
    return this.#opened?.slots ?? this.#options.slots;
  }
  get languages() {
    return this.#opened?.languages ?? null;
  }
  get features() {
    return this.#opened?.features ?? [];
  }
  get licence() {
    return this.#opened?.licence ?? null;
  }
  get isCalibrated() {
    return this.#opened?.isCalibrated ?? false;
  }
  get maxPieceSeconds() {
    return this.#opened?.maxPieceSeconds;
  }

  serving(request: ModelRequest): Engine {
    return this.#opened?.serving?.(request) ?? this;
  }

  async warmUp(): Promise<void> {
    await (await this.#open()).warmUp();
  }

  async transcribe(piece: Pcm, options: TranscribeOptions): Promise<Transcript> {
    return await (await this.#open()).transcribe(piece, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#opening?.catch(() => undefined);
    await this.#opened?.[Symbol.asyncDispose]();
  }

  async #open(): Promise<Engine> {
    if (this.#opened !== null) return this.#opened;
    if (this.#isClosed) throw cannotStart(new Error('it is closed'));
    this.#opening ??= this.#options.open().finally(() => {
      this.#opening = null;
    });
    try {
      this.#opened = await this.#opening;
      return this.#opened;
    } catch (error) {
      throw error instanceof EngineError ? error : cannotStart(error);
    }
  }
}

function cannotStart(cause: unknown): EngineError {
  const message = 'A speech engine cannot start; the log says why.';
  return new EngineError('engine_error', message, { cause, failure: { kind: 'start' } });
}
