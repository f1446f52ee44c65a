import type { ClaimedDelivery } from './claim-store.ts';

// Larger claims are not faster (200, 500 and 1,000 measured alike), and their bodies fill memory.
const CLAIM_LIMIT = 250;
// Each TLS socket that hangs takes about 100 KB of memory.
const MAX_ATTEMPTS = 8_192;
const MAX_BYTES = 256 * 1024 * 1024;
// From here on only first attempts of healthy webhooks are claimed, so that receivers that hang cannot use the rest.
const HEALTHY_ONLY_FROM = 6_144;
// The same applies from this many attempts of degraded webhooks. About as many get through the handshake limiter before
// the last of them has waited too long.
const MAX_DEGRADED = 1_536;

/** The attempts of this process in progress, and what it may claim beside them. */
export class InFlight {
  readonly #attempts = new Set<Promise<void>>();
  #bytes = 0;
  #degraded = 0;

  /** How many deliveries may be claimed at once now; 0 when a limit is reached. */
  claimLimit(): number {
    if (this.#bytes > MAX_BYTES) return 0;
    return Math.max(0, Math.min(CLAIM_LIMIT, MAX_ATTEMPTS - this.#attempts.size));
  }

  isHealthyOnly(): boolean {
    return this.#attempts.size >= HEALTHY_ONLY_FROM || this.#degraded >= MAX_DEGRADED;
  }

  /** Counts the delivery until its attempt has ended. @param attempt  must not reject */
  add({ body, isDegraded }: ClaimedDelivery, attempt: Promise<void>): void {
    const degraded = isDegraded ? 1 : 0;
    this.#bytes += body.length;
    this.#degraded += degraded;
    const counted = attempt.finally(() => {
      this.#attempts.delete(counted);
      this.#bytes -= body.length;
      this.#degraded -= degraded;
    });
    this.#attempts.add(counted);
  }

  /** Resolves when the attempts in progress now have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#attempts);
  }
}
