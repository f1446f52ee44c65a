import { ApiError, rateLimited } from '../../../http/api-error.ts';
import { AttemptLimit } from '../../../http/attempt-limit.ts';
import { guesserOf, networkOf } from '../../../rules/network/client-address.ts';

// Wrong guesses per minute. A team may be behind one address. Nobody guesses a password at these rates, and one address
// does not keep the owner of an email out.
const PER_ADDRESS = { maxOfClient: 60, maxOfAll: 600 };
const PER_ADDRESS_AND_EMAIL = { maxOfClient: 10, maxOfAll: 600 };
const PER_EMAIL = { maxOfClient: 100, maxOfAll: 600 };
const PER_KNOWN = { maxOfClient: 10, maxOfAll: 600 };
// Of a /48 of IPv6: whoever has it does not use up what all have together, and no household of it alone uses it up.
const PER_NETWORK = { maxOfClient: 200, maxOfAll: Number.POSITIVE_INFINITY };

/**
 * Who guesses. `email`: null where none is tried. `knownUserId`: whom the browser has signed in before; null: nobody.
 */
export type Guesser = { address: string; email: string | null; knownUserId: string | null };

// What a check throws for a wrong guess.
const WRONG: ReadonlySet<string> = new Set(['unauthenticated', 'not_found']);

type Count = [attempts: AttemptLimit, name: string];

/** Counts wrong guesses on this node: by address and its network, by email, and by both. */
export class Attempts {
  readonly #ofTokens = new AttemptLimit(PER_ADDRESS);
  readonly #ofNetwork = new AttemptLimit(PER_NETWORK);
  readonly #ofAddress = new AttemptLimit(PER_ADDRESS);
  readonly #ofBoth = new AttemptLimit(PER_ADDRESS_AND_EMAIL);
  readonly #ofEmail = new AttemptLimit(PER_EMAIL);
  readonly #ofKnown = new AttemptLimit(PER_KNOWN);

  /**
   * Checks a guess, unless there were too many wrong ones.
   * @param check  `onlyUserId`: the only user who may be let in, as strangers may have used up the limit; null: any
   * @throws ApiError  429, and what the check throws
   */
  async guess<Result>(
    { address, email, knownUserId }: Guesser,
    check: (onlyUserId: string | null) => Promise<Result>,
  ): Promise<Result> {
    const client = guesserOf(address);
    const counts: Count[] = [
      [this.#ofNetwork, networkOf(address)],
      [this.#ofAddress, client],
    ];
    if (email !== null) counts.push([this.#ofBoth, `${client} ${email}`], [this.#ofEmail, email]);
    if (knownUserId === null || secondsToWait(counts) === 0) return await count(counts, () => check(null));
    return await count([[this.#ofKnown, knownUserId]], () => check(knownUserId));
  }

  /**
   * Checks a token of random bits, which nobody guesses: the right one passes, however many wrong ones there were.
   * @throws ApiError  429 for a wrong one after too many others, and what the check throws
   */
  async checkToken<Result>(address: string, check: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await check();
    } catch (error) {
      const seconds = isWrong(error) ? this.#ofTokens.count(guesserOf(address)) : null;
      throw seconds === null ? error : tooMany(seconds);
    }
  }

  /** Counts a guess that was wrong and led on: to a new user with a password of their own. */
  addWrong({ address, email }: Guesser): void {
    this.#ofBoth.add(`${guesserOf(address)} ${email}`);
    this.#ofEmail.add(email ?? '');
  }

  /**
   * As `guess`, for the password of whoever is signed in: only wrong guesses of the same session count.
   * @throws ApiError  429, and what the check throws
   */
  async guessInSession<Result>(sessionId: string, check: () => Promise<Result>): Promise<Result> {
    return await count([[this.#ofKnown, sessionId]], check);
  }
}

/** A guess counts if it is wrong, and while it is checked: guesses at the same time are not more than the limit. */
async function count<Result>(counts: readonly Count[], check: () => Promise<Result>): Promise<Result> {
  const seconds = secondsToWait(counts);
  if (seconds > 0) throw tooMany(seconds);
  const takeBacks = counts.map(([attempts, name]) => attempts.add(name));
  let hasCounted = false;
  try {
    return await check();
  } catch (error) {
    hasCounted = isWrong(error);
    throw error;
  } finally {
    if (!hasCounted) for (const takeBack of takeBacks) takeBack();
  }
}

function isWrong(error: unknown): boolean {
  return error instanceof ApiError && WRONG.has(error.type);
}

function secondsToWait(counts: readonly Count[]): number {
  return Math.max(...counts.map(([attempts, name]) => attempts.retryAfterSeconds(name) ?? 0));
}

function tooMany(seconds: number): ApiError {
  return rateLimited(`Too many attempts to sign in; try again in ${seconds} s.`, seconds);
}
