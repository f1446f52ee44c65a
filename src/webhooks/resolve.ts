import dns from 'node:dns/promises';

/** All addresses of a name, or an error; never called for IP literals. */
export type Lookup = (hostname: string) => Promise<string[]>;

// getaddrinfo runs on the thread pool that file reads use too; it cannot be cancelled once it runs.
const MAX_LOOKUPS = 8;
// Names whose look-ups are slow may hold at most half of the places, so that a dead name server delays its own names.
const MAX_SLOW_LOOKUPS = MAX_LOOKUPS / 2;
const SLOW_MS = 500;
const MAX_SLOW_NAMES = 10_000;
const MAX_ADDRESSES = 64;

/** The addresses that the system gives for a name, `/etc/hosts` included; at most 64. */
export const systemLookup: Lookup = async (hostname) => {
  const answers = await dns.lookup(hostname, { all: true, verbatim: true });
  return answers.slice(0, MAX_ADDRESSES).map((answer) => answer.address);
};

/**
 * Look-ups with a bound on how many run at once. Callers that ask for a name while it is being looked up share that
 * answer; nothing is kept afterwards. The caller bounds the time it waits.
 */
export function openResolver(lookup: Lookup = systemLookup): Lookup {
  const underWay = new Map<string, Promise<string[]>>();
  const waiting: string[] = [];
  const starters = new Map<string, () => void>();
  const slowNames = new Set<string>();
  let running = 0;
  let runningSlow = 0;

  function resolve(hostname: string): Promise<string[]> {
    const shared = underWay.get(hostname);
    if (shared) return shared;
    const answer = new Promise<void>((start) => {
      starters.set(hostname, start);
      waiting.push(hostname);
    }).then(() => run(hostname));
    underWay.set(hostname, answer);
    startNext();
    return answer;
  }

  function startNext(): void {
    while (running < MAX_LOOKUPS) {
      const index = waiting.findIndex((name) => !slowNames.has(name) || runningSlow < MAX_SLOW_LOOKUPS);
      if (index < 0) return;
      const [hostname] = waiting.splice(index, 1);
      running += 1;
      starters.get(hostname!)!();
      starters.delete(hostname!);
    }
  }

  async function run(hostname: string): Promise<string[]> {
    const startedAt = performance.now();
    // Counted as slow at once when it was slow before, else from the moment it becomes so.
    let isSlow = slowNames.has(hostname);
    if (isSlow) runningSlow += 1;
    const timer = setTimeout(() => {
      if (!isSlow) runningSlow += 1;
      isSlow = true;
      remember(hostname);
    }, SLOW_MS);
    try {
      return await lookup(hostname);
    } finally {
      clearTimeout(timer);
      if (performance.now() - startedAt < SLOW_MS) slowNames.delete(hostname);
      if (isSlow) runningSlow -= 1;
      running -= 1;
      underWay.delete(hostname);
      startNext();
    }
  }

  function remember(hostname: string): void {
    if (slowNames.size >= MAX_SLOW_NAMES) slowNames.clear();
    slowNames.add(hostname);
  }

  return resolve;
}
