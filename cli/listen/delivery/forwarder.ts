import type { Clock } from '#sdk/client/index.ts';
import { type ForwardedEvent, type LocalSigning, localHeaders } from './local-delivery.ts';
import { isSuccess, type Outcome, type Post } from './post.ts';
import type { Targets } from './targets.ts';

/** One attempt, after its end. */
export type Attempt = {
  event: ForwardedEvent;
  url: URL;
  /** From 1. */
  attempt: number;
  request: { headers: Record<string, string>; body: string };
  outcome: Outcome;
  durationMs: number;
  /** Null: it is not sent again by itself. */
  retryInMs: number | null;
};

export type ForwarderOptions = {
  targets: Targets;
  signing: LocalSigning;
  post: Post;
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  /** The waits before the second attempt, the third, and so on. */
  retryDelaysMs: readonly number[];
  /** Part of the attempts that fail on purpose, 0 to 1. */
  failShare: number;
  onAttempt(attempt: Attempt): void;
  signal: AbortSignal;
};

const MAX_AT_ONCE = 16;
// Each event that is held has one permit for every 64 KiB of its body: 64 MB in all.
const MAX_HELD = 1_000;
const HELD_BYTES = 64 * 1024;
const JITTER = 0.1;
const LOST_ANSWER: Outcome = { kind: 'failed', reason: 'simulated', message: 'sent, and its answer ignored (--fail)' };
const NOT_SENT: Outcome = { kind: 'failed', reason: 'simulated', message: 'not sent (--fail)' };

/** Sends events to their targets: 16 at once, each until it succeeds or its attempts are used up. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #requests: Permits;
  readonly #held: Permits;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#requests = new Permits(MAX_AT_ONCE, options.signal);
    this.#held = new Permits(MAX_HELD, options.signal);
  }

  /**
   * Resolves once there is a place for the event; `ended` resolves when no attempt follows. An event without a target
   * has ended at once. @throws the reason of the signal
   */
  async accept(event: ForwardedEvent): Promise<{ ended: Promise<void> }> {
    const url = this.#options.targets.urlFor(event.type);
    if (url === null) return { ended: Promise.resolve() };
    const release = await this.#held.take(Math.ceil(event.body.length / HELD_BYTES));
    return { ended: this.#send(event, url).finally(release) };
  }

  async #send(event: ForwardedEvent, url: URL): Promise<void> {
    const { clock, random, retryDelaysMs, onAttempt, signal } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const release = await this.#requests.take();
      const made = await this.#attempt(event, url, attempt).finally(release);
      const delayMs = isSuccess(made.outcome) ? undefined : retryDelaysMs[attempt - 1];
      const retryInMs = delayMs === undefined ? null : Math.round(delayMs * (1 + JITTER * (2 * random() - 1)));
      onAttempt({ ...made, retryInMs });
      if (retryInMs === null) return;
      await clock.sleep(retryInMs, signal);
      signal.throwIfAborted();
    }
  }

  async #attempt(event: ForwardedEvent, url: URL, attempt: number): Promise<Omit<Attempt, 'retryInMs'>> {
    const { signing, post, clock, random, failShare, signal } = this.#options;
    const startedAtMs = clock.now();
    const headers = localHeaders(event, signing, { attempt, nowMs: startedAtMs });
    const request = { headers, body: event.body };
    const chance = random();
    const isSent = chance >= failShare / 2;
    const answer = isSent ? await post(url, request, signal) : NOT_SENT;
    const outcome = isSent && chance < failShare ? LOST_ANSWER : answer;
    return { event, url, attempt, request, outcome, durationMs: clock.now() - startedAtMs };
  }
}

/** So many at once; the others wait in order, until the signal aborts. */
class Permits {
  readonly #all: number;
  #free: number;
  readonly #signal: AbortSignal;
  readonly #waiting: { count: number; wake(): void }[] = [];

  constructor(count: number, signal: AbortSignal) {
    this.#all = count;
    this.#free = count;
    this.#signal = signal;
    const wakeAll = () => {
      for (const { wake } of this.#waiting.splice(0)) wake();
    };
    signal.addEventListener('abort', wakeAll, { once: true });
  }

  /**
   * Resolves to the function that gives the permits back. @throws the reason of the signal
   * @param wanted  more than there are: all of them
   */
  async take(wanted = 1): Promise<() => void> {
    this.#signal.throwIfAborted();
    const count = Math.min(wanted, this.#all);
    await new Promise<void>((wake) => {
      this.#waiting.push({ count, wake });
      this.#wakeNext();
    });
    this.#signal.throwIfAborted();
    return () => {
      this.#free += count;
      this.#wakeNext();
    };
  }

  #wakeNext(): void {
    while (this.#waiting.length > 0 && this.#waiting[0]!.count <= this.#free) {
      const { count, wake } = this.#waiting.shift()!;
      this.#free -= count;
      wake();
    }
  }
}
