import type { Lookup } from './lookup.ts';
import { openLookup } from './lookup.ts';

/** A look-up under way; it began when `enter` resolved. */
export type RunningLookup = { addresses: Promise<string[]> };

export type Resolver = {
  /**
   * Begins to look a name up, or joins whoever is doing so. Null: no turn came within `maxWaitMs`; nothing was asked.
   * @param accountId  on whose behalf: accounts that have few look-ups under way come first
   */
  enter(hostname: string, turn: { accountId: string; maxWaitMs: number }): Promise<RunningLookup | null>;
  /** Ends the look-ups under way, and sends away everyone who waits. */
  close(): void;
};

// More than an account has webhooks: names that hang cost their own account its turns, and nobody else's.
const MAX_PER_ACCOUNT = 8;
// A burst of datagrams that no name server's buffer holds would be lost, and cost each of them a second.
const MAX_FRESH = 64;
// A name server that has not answered by then keeps nobody else waiting.
const FRESH_MS = 250;
// Each holds a socket. Further ones wait for at most LOOKUP_MS.
const MAX_LOOKUPS = 1_024;
const LOOKUP_MS = 5_000;

type Waiting = { accountId: string; admit(lookup: RunningLookup | null): void; hostname: string };
type Running = RunningLookup & { stop(): void };

/**
 * Look-ups in turn: at most 8 of an account at once, and of those that wait, whose account has the fewest goes first.
 * Callers that ask for a name while it is being looked up share that answer; nothing is kept afterwards.
 */
export function openResolver(lookup: Lookup = openLookup()): Resolver {
  const running = new Map<string, Running>();
  const byAccount = new Map<string, number>();
  const waiting = new Set<Waiting>();
  let fresh = 0;

  function enter(hostname: string, { accountId, maxWaitMs }: { accountId: string; maxWaitMs: number }) {
    const shared = running.get(hostname);
    if (shared) return Promise.resolve({ addresses: shared.addresses });
    return new Promise<RunningLookup | null>((resolve) => {
      const one: Waiting = {
        ...{ hostname, accountId },
        admit(begun) {
          clearTimeout(patience);
          waiting.delete(one);
          resolve(begun);
        },
      };
      const patience = setTimeout(() => one.admit(null), maxWaitMs);
      waiting.add(one);
      admitNext();
    });
  }

  function admitNext(): void {
    while (fresh < MAX_FRESH && running.size < MAX_LOOKUPS) {
      const next = nextInTurn();
      if (!next) return;
      const { addresses } = running.get(next.hostname) ?? begin(next);
      next.admit({ addresses });
    }
  }

  /** Of those whose account may have another, the first of the account that has the fewest. */
  function nextInTurn(): Waiting | null {
    let best: Waiting | null = null;
    let fewest = MAX_PER_ACCOUNT;
    for (const one of waiting) {
      const underWay = byAccount.get(one.accountId) ?? 0;
      if (underWay >= fewest) continue;
      [best, fewest] = [one, underWay];
      if (fewest === 0) break;
    }
    return best;
  }

  function begin({ hostname, accountId }: Waiting): Running {
    const ended = new AbortController();
    const timeIsUp = Promise.withResolvers<never>();
    const stop = () => {
      timeIsUp.reject(Object.assign(new Error(`${hostname} was not resolved in time`), { code: 'ETIMEOUT' }));
      ended.abort();
    };
    const longest = setTimeout(stop, LOOKUP_MS);
    const endFreshness = holdFresh();
    byAccount.set(accountId, (byAccount.get(accountId) ?? 0) + 1);
    const addresses = Promise.race([lookup(hostname, ended.signal), timeIsUp.promise]).finally(() => {
      clearTimeout(longest);
      running.delete(hostname);
      const left = byAccount.get(accountId)! - 1;
      if (left === 0) byAccount.delete(accountId);
      else byAccount.set(accountId, left);
      endFreshness();
      admitNext();
    });
    // Whoever asked may have gone before the answer.
    addresses.catch(() => undefined);
    const one = { addresses, stop };
    running.set(hostname, one);
    return one;
  }

  /** Returns what ends it, where its time has not. */
  function holdFresh(): () => void {
    let isFresh = true;
    fresh += 1;
    const timer = setTimeout(end, FRESH_MS);
    function end(): void {
      if (!isFresh) return;
      isFresh = false;
      clearTimeout(timer);
      fresh -= 1;
      admitNext();
    }
    return end;
  }

  return {
    enter,
    close() {
      for (const one of [...waiting]) one.admit(null);
      for (const one of [...running.values()]) one.stop();
    },
  };
}
