/**
 * Sockets that have not begun a session, of one account and of all: each may hold a message of 4 MiB that is not whole.
 */
const MAX_OF_ACCOUNT = 10;
const MAX_OF_ALL = 500;
/** A socket without audio is closed after this time. */
export const MAX_WAIT_MS = 60_000;

/** Counts the sockets of this process that have not begun a session. */
export class WaitingSockets {
  readonly #ofAccounts = new Map<string, number>();
  #all = 0;

  /** Adds a socket. Returns what takes it away again, at any number of calls, or why there is no place for it. */
  add(accountId: string): { leave: () => void } | { refused: 'account' | 'all' } {
    const ofAccount = this.#ofAccounts.get(accountId) ?? 0;
    if (ofAccount >= MAX_OF_ACCOUNT) return { refused: 'account' };
    if (this.#all >= MAX_OF_ALL) return { refused: 'all' };
    this.#ofAccounts.set(accountId, ofAccount + 1);
    this.#all += 1;
    let isIn = true;
    const leave = () => {
      if (isIn) this.#remove(accountId);
      isIn = false;
    };
    return { leave };
  }

  #remove(accountId: string): void {
    const left = this.#ofAccounts.get(accountId)! - 1;
    if (left > 0) this.#ofAccounts.set(accountId, left);
    else this.#ofAccounts.delete(accountId);
    this.#all -= 1;
  }
}
