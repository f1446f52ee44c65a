import dns from 'node:dns/promises';
import { isNameServerAnswer } from '../../rules/network/name-servers.ts';
import { isLocalName } from '../../rules/network/url-guard.ts';
import { type HostsFile, openHostsFile } from './hosts-file.ts';

/**
 * All addresses of a name, or an error. Not called for IP literals.
 * @param signal  aborted when the answer is no longer needed
 */
export type Lookup = (hostname: string, signal: AbortSignal) => Promise<string[]>;

const MAX_ADDRESSES = 64;
// A lost datagram is sent again after one second, and again after two more. The signal bounds the whole lookup.
const QUERY_TIMEOUT_MS = 1_000;
const QUERY_TRIES = 3;
// libuv uses at most half of its 16 threads for getaddrinfo.
const MAX_SYSTEM_LOOKUPS = 8;
const HAS_NO_ADDRESS = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/**
 * Looks names up in /etc/hosts, then at the name servers of /etc/resolv.conf; at most 64 addresses each.
 * getaddrinfo is called only for local names that neither knows (search domains, mDNS): each call holds a thread and
 * cannot be cancelled, so a few names whose servers never answer would block all other lookups.
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
    const found = await queryNameServers(hostname, signal).catch((cause) => {
      const isUnknown = HAS_NO_ADDRESS.has((cause as NodeJS.ErrnoException).code ?? '');
      if (isUnknown && isLocalName(hostname) && systemLookups < MAX_SYSTEM_LOOKUPS) return systemLookup(hostname);
      throw cause;
    });
    return found.slice(0, MAX_ADDRESSES);
  };
}

/** Queries for IPv4 and IPv6 addresses at once; an answer to one of them is enough. */
async function queryNameServers(hostname: string, signal: AbortSignal): Promise<string[]> {
  // One resolver per lookup: it reads the current resolv.conf, has its own random port, and is cancelled alone.
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

/** The error of the two that tells more: ENODATA only means that there is no address of one family. */
function failureOf(answers: PromiseSettledResult<string[]>[]): unknown {
  const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  return failures.find((failure) => (failure as NodeJS.ErrnoException).code !== 'ENODATA') ?? failures[0];
}

/**
 * Whether a name server of /etc/resolv.conf answers a question about the root zone, which exists everywhere. A refusal
 * is an answer: servers of closed networks know their own names only. Takes up to 3 s, never rejects.
 */
export async function askRootServers(): Promise<boolean> {
  const resolver = new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: 2 });
  try {
    await resolver.resolveNs('.');
    return true;
  } catch (cause) {
    return isNameServerAnswer(cause);
  }
}
