import type { Slices } from '../../platform/slices.ts';

/**
 * What the sockets of one account may send together. The sessions of an account in real time send 50 to 1,000 messages
 * and up to 2.6 MB a second.
 */
const PER_SECOND = { messages: 4_000, bytes: 8 * 2 ** 20 };

/** What the sockets of one account share: messages and bytes a second, and their turns in the event loop. */
export type MessageBudget = {
  /**
   * Takes a message out of the budget, before anything of it is read. Returns 0, or after how many milliseconds to ask
   * again where nothing is left.
   */
  take(bytes: number): number;
  /** Takes this number of further messages, for a message that costs as much as they do. */
  charge(messages: number): void;
  /** Resolves when the next message of the account may be read. */
  turn(): Promise<void>;
};

/** The budgets of all accounts that have sockets here. */
export class MessageBudgets {
  readonly #slices: Slices;
  /** Sockets hold the budgets: without one the budget of an account is collected. */
  readonly #accounts = new Map<string, WeakRef<AccountBudget>>();
  readonly #collected = new FinalizationRegistry<string>((id) => {
    if (this.#accounts.get(id)?.deref() === undefined) this.#accounts.delete(id);
  });

  constructor(slices: Slices) {
    this.#slices = slices;
  }

  of(accountId: string): MessageBudget {
    const known = this.#accounts.get(accountId)?.deref();
    if (known) return known;
    const made = new AccountBudget(() => this.#slices.turn(accountId));
    this.#accounts.set(accountId, new WeakRef(made));
    this.#collected.register(made, accountId);
    return made;
  }
}

/** Two buckets that fill up again within a second. The last message may take more than is left: it is made up for. */
class AccountBudget implements MessageBudget {
  readonly turn: () => Promise<void>;
  #messages = PER_SECOND.messages;
  #bytes = PER_SECOND.bytes;
  #filledAtMs = performance.now();

  constructor(turn: () => Promise<void>) {
    this.turn = turn;
  }

  take(bytes: number): number {
    this.#fill();
    const waitMs = Math.max(-this.#messages / PER_SECOND.messages, -this.#bytes / PER_SECOND.bytes) * 1_000;
    if (waitMs > 0) return Math.ceil(waitMs);
    this.#messages -= 1;
    this.#bytes -= bytes;
    return 0;
  }

  charge(messages: number): void {
    this.#messages -= messages;
  }

  #fill(): void {
    const nowMs = performance.now();
    const seconds = (nowMs - this.#filledAtMs) / 1_000;
    this.#filledAtMs = nowMs;
    this.#messages = Math.min(PER_SECOND.messages, this.#messages + seconds * PER_SECOND.messages);
    this.#bytes = Math.min(PER_SECOND.bytes, this.#bytes + seconds * PER_SECOND.bytes);
  }
}
