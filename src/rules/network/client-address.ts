import net from 'node:net';

/**
 * What counts as one client: an IPv4 address, or the /64 of an IPv6 address, since whoever has one address of a /64 has
 * all of them. An IPv4 address mapped into IPv6 is that IPv4 address.
 */
export function clientOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  if (!net.isIPv6(address)) return address;
  return `${groupsOf(address.split('%')[0]!).slice(0, 4).join(':')}::/64`;
}

/**
 * What counts as one client where somebody guesses: as `clientOf`, but the /56 of an IPv6 address, which providers give
 * to one household.
 */
export function guesserOf(address: string): string {
  const client = clientOf(address);
  if (!client.endsWith('::/64')) return client;
  const [first, second, third, fourth] = client.split(':') as [string, string, string, string];
  const rest = (Number.parseInt(fourth, 16) & 0xff00).toString(16);
  return `${[first, second, third, rest].join(':')}::/56`;
}

/** What one organisation has: an IPv4 address, or the /48 of an IPv6 address. */
export function networkOf(address: string): string {
  const client = clientOf(address);
  return client.endsWith('::/64') ? `${client.split(':').slice(0, 3).join(':')}::/48` : client;
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after].map((group) => group.replace(/^0+(?=.)/, ''));
}
