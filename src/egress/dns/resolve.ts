import { isNameServerAnswer } from '../../rules/network/name-servers.ts';
import { askRootServers, type Lookup, openLookup } from './lookup.ts';

/** A lookup in progress. */
export type RunningLookup = {
  addresses: Promise<string[]>;
  /**
   * After a failure: whether no name can be resolved at present, because the name servers of this machine do not
   * answer. Takes up to 3 s.
   */
  areNameServersAway(): Promise<boolean>;
};

// More than an account has webhooks. Names that hang use up the lookups of their own account only.
const MAX_PER_ACCOUNT = 8;
// A larger burst of datagrams overflows the buffers of name servers; each lost one delays its lookup by a second.
const MAX_RECENT = 64;
// A lookup is recent for this long: a slow name server does not keep other lookups waiting.
const RECENT_MS = 250;
// Each holds a socket. Further ones wait for at most LOOKUP_MS.
const MAX_LOOKUPS = 1_024;
const LOOKUP_MS = 5_000;

type LookupOptions = {
  /** Accounts with few lookups in progress come first. */
  accountId: string;
  maxWaitMs: number;
};
type Waiter = { hostname: string; accountId: string; admit(lookup: RunningLookup | null): void };
type Running = RunningLookup & { stop(): void };
/** Resolves to whether the name servers of this machine answer. */
export type AskNameServers = () => Promise<boolean>;

/**
 * Limits DNS lookups: at most 8 at once per account, and the next one is for the account with the fewest in progress.
 * Concurrent lookups of one name share the answer. Nothing is cached afterwards.
 */
export class Resolver {
  readonly #lookup: Lookup;
  readonly #running = new Map<string, Running>();
  readonly #countByAccount = new Map<string, number>();
  readonly #waiters = new Set<Waiter>();
  readonly #askNameServers: AskNameServers;
  #recentCount = 0;
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<boolean> | null = null;

  constructor(lookup: Lookup = openLookup(), askNameServers: AskNameServers = askRootServers) {
    this.#lookup = lookup;
    this.#askNameServers = askNameServers;
  }

  /**
   * Resolves when the lookup has started, or has joined one of the same name;
   * null when it could not within `maxWaitMs`.
   */
  startLookup(hostname: string, { accountId, maxWaitMs }: LookupOptions): Promise<RunningLookup | null> {
    const shared = this.#running.get(hostname);
    if (shared) return Promise.resolve(shared);
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiter.admit(null), maxWaitMs);
      const waiter: Waiter = {
        hostname,
        accountId,
        admit: (lookup) => {
          clearTimeout(timer);
          this.#waiters.delete(waiter);
          resolve(lookup);
        },
      };
      this.#waiters.add(waiter);
      this.#admitWaiters();
    });
  }

  /** Ends the lookups in progress with an error, and all waits with null. */
  close(): void {
    for (const waiter of [...this.#waiters]) waiter.admit(null);
    for (const running of [...this.#running.values()]) running.stop();
  }

  #admitWaiters(): void {
    while (this.#recentCount < MAX_RECENT && this.#running.size < MAX_LOOKUPS) {
      const next = this.#nextWaiter();
      if (!next) return;
      next.admit(this.#running.get(next.hostname) ?? this.#start(next));
    }
  }

  /** The oldest waiter of the account with the fewest lookups in progress; null when every account has 8. */
  #nextWaiter(): Waiter | null {
    let next: Waiter | null = null;
    let fewest = MAX_PER_ACCOUNT;
    for (const waiter of this.#waiters) {
      const count = this.#countByAccount.get(waiter.accountId) ?? 0;
      if (count >= fewest) continue;
      next = waiter;
      fewest = count;
      if (fewest === 0) break;
    }
    return next;
  }

  #start({ hostname, accountId }: Waiter): Running {
    const abort = new AbortController();
    const timedOut = Promise.withResolvers<never>();
    const stop = () => {
      timedOut.reject(Object.assign(new Error(`${hostname} was not resolved in time`), { code: 'ETIMEOUT' }));
      abort.abort();
    };
    const timer = setTimeout(stop, LOOKUP_MS);
    const endRecent = this.#countRecent();
    this.#addToAccount(accountId, 1);
    const startedAtMs = performance.now();
    const looked = this.#lookup(hostname, abort.signal);
    looked.then(
      () => this.#noteAnswer(),
      (cause) => isNameServerAnswer(cause) && this.#noteAnswer(),
    );
    const addresses = Promise.race([looked, timedOut.promise]).finally(() => {
      clearTimeout(timer);
      this.#running.delete(hostname);
      this.#addToAccount(accountId, -1);
      endRecent();
      this.#admitWaiters();
    });
    // The attempt may end before the lookup does; its error is then not handled elsewhere.
    addresses.catch(() => undefined);
    const areNameServersAway = async () => this.#answeredAtMs < startedAtMs && !(await this.#doNameServersAnswer());
    const running = { addresses, areNameServersAway, stop };
    this.#running.set(hostname, running);
    return running;
  }

  #noteAnswer(): void {
    this.#answeredAtMs = performance.now();
  }

  /** One question at a time, for all lookups that failed. */
  #doNameServersAnswer(): Promise<boolean> {
    this.#asking ??= this.#askNameServers().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  #addToAccount(accountId: string, change: 1 | -1): void {
    const count = (this.#countByAccount.get(accountId) ?? 0) + change;
    if (count === 0) this.#countByAccount.delete(accountId);
    else this.#countByAccount.set(accountId, count);
  }

  /** Counts a lookup as recent for 250 ms, or until the returned function is called. */
  #countRecent(): () => void {
    let isRecent = true;
    this.#recentCount += 1;
    const timer = setTimeout(() => end(), RECENT_MS);
    const end = () => {
      if (!isRecent) return;
      isRecent = false;
      clearTimeout(timer);
      this.#recentCount -= 1;
      this.#admitWaiters();
    };
    return end;
  }
}
