import { ApiError } from '../../http/api-error.ts';
import { AttemptLimit } from '../../http/attempt-limit.ts';
import { clientOf } from '../../rules/network/client-address.ts';

// Per minute. A team may be behind one address. Nobody guesses a password at these rates, and one address does not keep
// the owner of an email out.
const PER_ADDRESS = { maxOfClient: 60, maxOfAll: 600 };
const PER_ADDRESS_AND_EMAIL = { maxOfClient: 10, maxOfAll: 600 };
const PER_EMAIL = { maxOfClient: 100, maxOfAll: 600 };

/** Counts who tries to sign in on this node: by address, by email, and by both. */
export class Attempts {
  readonly #ofAddress = new AttemptLimit(PER_ADDRESS);
  readonly #ofBoth = new AttemptLimit(PER_ADDRESS_AND_EMAIL);
  readonly #ofEmail = new AttemptLimit(PER_EMAIL);

  /**
   * Counts an attempt before it is decided: attempts at the same time are not more than the limit.
   * @param email  null where none is tried
   * @throws ApiError  429
   */
  add(address: string, email: string | null): void {
    const client = clientOf(address);
    const counts: [AttemptLimit, string][] = [[this.#ofAddress, client]];
    if (email !== null) counts.push([this.#ofBoth, `${client} ${email}`], [this.#ofEmail, email]);
    const seconds = Math.max(...counts.map(([attempts, name]) => attempts.retryAfterSeconds(name) ?? 0));
    if (seconds > 0) throw tooMany(seconds);
    for (const [attempts, name] of counts) attempts.add(name);
  }
}

function tooMany(seconds: number): ApiError {
  return new ApiError('rate_limited', `Too many attempts to sign in; try again in ${seconds} s.`, {
    extra: { retry_after: seconds },
    headers: { 'retry-after': String(seconds) },
  });
}
