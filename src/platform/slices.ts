/** How long the event loop is kept at most before it looks at everything else. A request needs several of its turns. */
const SLICE_MS = 2;

/**
 * Shares the event loop between owners that have much work to do in it, such as audio that was sent faster than it is
 * spoken. An owner awaits its turn before each step of about a millisecond. Steps of all owners run one after another,
 * the owners in turn, for at most 2 ms; then the event loop does all else that is due.
 */
export class Slices {
  readonly #sliceMs: number;
  readonly #nextTurn: (run: () => void) => void;
  /** Steps that wait, of the owner that is next first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isRunning = false;

  /** @param options.nextTurn  calls a function once the event loop has done what is due; default: setImmediate */
  constructor({
    sliceMs = SLICE_MS,
    nextTurn = setImmediate,
  }: { sliceMs?: number; nextTurn?: (run: () => void) => void } = {}) {
    this.#sliceMs = sliceMs;
    this.#nextTurn = nextTurn;
  }

  /** Resolves when the next step of the owner may run: what is done before the next `await` is the step. */
  turn(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(owner);
      if (waiting) waiting.push(resolve);
      else this.#waiting.set(owner, [resolve]);
      if (!this.#isRunning) this.#schedule();
    });
  }

  #schedule(): void {
    this.#isRunning = true;
    this.#nextTurn(() => void this.#run());
  }

  async #run(): Promise<void> {
    const endMs = performance.now() + this.#sliceMs;
    do {
      this.#takeNext()();
      // The step runs here: it waited for its promise before this function waits for another.
      await null;
    } while (this.#waiting.size > 0 && performance.now() < endMs);
    this.#isRunning = false;
    if (this.#waiting.size > 0) this.#schedule();
  }

  /** The next step of the owner at the front, who goes to the end. */
  #takeNext(): () => void {
    const [owner, waiting] = this.#waiting.entries().next().value!;
    this.#waiting.delete(owner);
    const step = waiting.shift()!;
    if (waiting.length > 0) this.#waiting.set(owner, waiting);
    return step;
  }
}
