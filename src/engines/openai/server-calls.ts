import type { Clock } from '../../platform/clock.ts';
import { openSemaphore, type Semaphore } from '../../platform/semaphore.ts';
import { EngineError } from '../engine.ts';
import { tookTooLong } from '../process/call-queue.ts';
import { RequestLimit } from './request-limit.ts';

type Call = {
  madeAtMs: number;
  /** Once it is sent: it ends then, also when the server answers others. */
  latestMs: number;
};

type CallOptions = {
  /** For one answer of the server, whichever call it is for. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Of the audio. */
  seconds: number;
};

/** Whisper's encoder takes the same time for each piece. It is about as much as the text of so many seconds takes. */
const BASE_SECONDS = 15;

/**
 * The calls of a speech server, as many at once as it works on without growing slower; the others wait here, in order
 * of arrival. A server answers one request after the other where it has one lock, so a call's time counts from the
 * server's last answer to any call.
 */
export class ServerCalls {
  readonly #clock: Clock;
  readonly #limit: RequestLimit;
  readonly #semaphore: Semaphore;
  #calls = 0;
  #underWay = 0;
  #answeredAtMs = Number.NEGATIVE_INFINITY;

  constructor(most: number, clock: Clock) {
    this.#clock = clock;
    this.#limit = new RequestLimit(most);
    this.#semaphore = openSemaphore(() => this.#limit.limit);
  }

  /** @throws EngineError  `engine_timeout`; the work's own error; the signal's reason */
  async run<Result>(work: (signal: AbortSignal) => Promise<Result>, options: CallOptions): Promise<Result> {
    const call: Call = { madeAtMs: this.#clock.now(), latestMs: Number.POSITIVE_INFINITY };
    const ended = new AbortController();
    const ending = AbortSignal.any([options.signal, this.#deadline(call, options.timeoutMs, ended.signal)]);
    this.#calls += 1;
    try {
      return await this.#semaphore(() => this.#send(call, () => work(ending), options), ending);
    } finally {
      this.#calls -= 1;
      ended.abort(null);
    }
  }

  /** The server refused a request because it has too many. */
  refused(): void {
    this.#limit.refused(this.#underWay);
  }

  async #send<Result>(call: Call, work: () => Promise<Result>, { timeoutMs, seconds }: CallOptions): Promise<Result> {
    this.#underWay += 1;
    // Those before it are answered first, each in its time. One more, as few servers keep to the order.
    call.latestMs = this.#clock.now() + timeoutMs * (1 + this.#underWay);
    try {
      const result = await work();
      this.#answered();
      this.#limit.answered({
        nowMs: this.#clock.now(),
        underWay: this.#underWay,
        waiting: this.#calls - this.#underWay,
        work: BASE_SECONDS + seconds,
      });
      return result;
    } catch (error) {
      this.#limit.interrupted();
      if (error instanceof EngineError && isAnswer(error)) this.#answered();
      throw error;
    } finally {
      this.#underWay -= 1;
    }
  }

  #answered(): void {
    this.#answeredAtMs = this.#clock.now();
  }

  /** Aborts when the server has answered nothing for so long. */
  #deadline(call: Call, timeoutMs: number, ended: AbortSignal): AbortSignal {
    const deadline = new AbortController();
    const watch = async () => {
      while (!ended.aborted) {
        const dueMs = Math.min(call.latestMs, Math.max(call.madeAtMs, this.#answeredAtMs) + timeoutMs);
        const leftMs = dueMs - this.#clock.now();
        if (leftMs <= 0) return deadline.abort(tookTooLong(timeoutMs));
        await this.#clock.sleep(leftMs, ended);
      }
    };
    void watch();
    return deadline.signal;
  }
}

function isAnswer({ failure: { kind } }: EngineError): boolean {
  return kind === 'status' || kind === 'piece' || kind === 'request';
}
