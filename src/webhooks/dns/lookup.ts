import dns from 'node:dns/promises';
import { isLocalName } from '../../rules/network/url-guard.ts';
import type { HostsFile } from './hosts-file.ts';
import { openHostsFile } from './hosts-file.ts';

/**
 * All addresses of a name, or an error; never called for IP literals.
 * @param signal  nobody waits for the answer any more: what can be cancelled ends
 */
export type Lookup = (hostname: string, signal: AbortSignal) => Promise<string[]>;

const MAX_ADDRESSES = 64;
// A lost datagram is sent again after one second, and again after two more. The signal bounds the whole look-up.
const QUERY_TIMEOUT_MS = 1_000;
const QUERY_TRIES = 3;
// libuv gives half of its 16 threads to getaddrinfo.
const MAX_SYSTEM_LOOKUPS = 8;
const HAS_NO_ADDRESS = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/**
 * The addresses of a name by /etc/hosts, else by the name servers of /etc/resolv.conf; at most 64. Not by getaddrinfo:
 * each of its calls holds a thread that cannot be freed, so that a few names whose servers never answer stop all others.
 * Only names that are local by nature, and unknown to both, are left to getaddrinfo (search domains, mDNS).
 */
export function openLookup(hosts: HostsFile = openHostsFile()): Lookup {
  let systemLookups = 0;

  async function systemLookup(hostname: string): Promise<string[]> {
    systemLookups += 1;
    try {
      const answers = await dns.lookup(hostname, { all: true, verbatim: true });
      return answers.map(({ address }) => address);
    } finally {
      systemLookups -= 1;
    }
  }

  return async (hostname, signal) => {
    const listed = await hosts.addressesOf(hostname);
    if (listed.length > 0) return listed.slice(0, MAX_ADDRESSES);
    const found = await askNameServers(hostname, signal).catch((cause) => {
      const isUnknown = HAS_NO_ADDRESS.has((cause as NodeJS.ErrnoException).code ?? '');
      if (isUnknown && isLocalName(hostname) && systemLookups < MAX_SYSTEM_LOOKUPS) return systemLookup(hostname);
      throw cause;
    });
    return found.slice(0, MAX_ADDRESSES);
  };
}

/** Both families at once. One of them is enough: an address that was not given is not connected to. */
async function askNameServers(hostname: string, signal: AbortSignal): Promise<string[]> {
  // One for each look-up: it takes up changes of resolv.conf, has a random port of its own, and is cancelled alone.
  const resolver = new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0) throw failureOf(answers);
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** "No address of this family" says less than what the other family's question came to. */
function failureOf(answers: PromiseSettledResult<string[]>[]): unknown {
  const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  return failures.find((failure) => (failure as NodeJS.ErrnoException).code !== 'ENODATA') ?? failures[0];
}
