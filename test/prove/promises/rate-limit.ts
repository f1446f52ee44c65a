import { type Call, type Calls, nowUs } from '../calls.ts';
import { RATE_LIMIT } from '../cluster.ts';
import { ANY, exactly, type History, NEVER, type Operation, perhaps } from '../judge/history.ts';
import { ordered, type UsedObject } from './promise.ts';

const NAME = 'a rate limit admits its number, over both nodes';
const CALLERS = 3;
const PAUSE_MS = 700;
/** Within the window, so that each call that was admitted still counts. */
const USED_MS = 0.8 * RATE_LIMIT.windowMs;
/** Calls without an answer that the search for an order can bear. */
const MAX_UNKNOWN = 6;

/** An account that starts live sessions for the first time, for less than a window of the limit. */
class LimitedAccount implements UsedObject {
  readonly #calls: Calls;
  readonly #headers: Record<string, string>;
  readonly #tries: Call[] = [];
  #beganAtUs = 0;

  constructor(calls: Calls, headers: Record<string, string>) {
    this.#calls = calls;
    this.#headers = headers;
  }

  async use(): Promise<void> {
    this.#beganAtUs = nowUs();
    const endsAtUs = this.#beganAtUs + USED_MS * 1000;
    const caller = async () => {
      while (!this.#calls.isOver && nowUs() < endsAtUs && this.#unknown() < MAX_UNKNOWN) {
        // It counts whatever its outcome, and an unknown field costs the service nothing more.
        const body = { unknown: true };
        const answer = await this.#calls.send(NAME, { method: 'POST', path: '/v1/live', headers: this.#headers, body });
        if (answer.type !== 'fail') this.#tries.push(answer);
        await this.#calls.pause(PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
  }

  #unknown(): number {
    return this.#tries.filter(({ type }) => type === 'info').length;
  }

  async history(): Promise<History> {
    return {
      name: this.#headers['x-api-key']!.slice(0, 10),
      start: {},
      operations: this.#tries.map((tried) => this.#tryOf(tried)),
    };
  }

  #tryOf({ call, return: ended, type, status, headers }: Call): Operation {
    const label = `${status}, remaining ${headers.get('ratelimit-remaining')}`;
    const add = { count: 1 };
    const free = [0, RATE_LIMIT.count - 1] as const;
    // What is answered after the window's end may have been counted after it.
    const isLate = ended > this.#beganAtUs + RATE_LIMIT.windowMs * 1000;
    if (type === 'info' || isLate) {
      return { label, call, return: NEVER, outcomes: perhaps({ when: { count: free }, add }) };
    }
    if (status === 429) return { label, call, return: ended, outcomes: [{ when: { count: [RATE_LIMIT.count, ANY] } }] };
    const before = RATE_LIMIT.count - 1 - Number(headers.get('ratelimit-remaining'));
    return { label, call, return: ended, outcomes: [{ when: { count: exactly(before) }, add }] };
  }
}

export const RATE_LIMITS = ordered(
  NAME,
  2,
  async (calls) => new LimitedAccount(calls, (await calls.account(NAME)).headers),
);
