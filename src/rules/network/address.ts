import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** A network that receivers may lie in although it is not public; `port` null means 443 only. */
export type AllowedTarget = { address: string; prefixBits: number; port: number | null };

/**
 * Networks that are not globally reachable (IANA special-purpose registry), and a metadata address in a public range.
 */
const NOT_PUBLIC_IPV4 = networks([
  '0.0.0.0/8', // this host
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; holds Alibaba's metadata 100.100.100.200
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's WireServer, in a public range
  '169.254.0.0/16', // link-local; holds the metadata addresses of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; holds Oracle's old metadata 192.0.0.192
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
]);

// An IPv6 address is public only inside of the one allocated range, and outside of the special networks in that range.
const ALLOCATED_IPV6 = networks(['2000::/3']);
const NOT_PUBLIC_IPV6 = networks([
  '2001::/23', // Teredo, benchmarking, ORCHID, AMT, AS112
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: holds an IPv4 address
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // the old 6bone
  '3fff::/20', // documentation
]);

// How the URL parser writes these addresses: in hexadecimal groups.
const MAPPED = /^\[::ffff:(\w+):(\w+)\]$/;
const MAPPED_OR_NAT64 = /^\[(?:::ffff|64:ff9b:):(\w+):(\w+)\]$/;

/**
 * Whether an address is globally reachable. For IPv4-mapped and NAT64 addresses the IPv4 address inside decides: on a
 * network with DNS64 every IPv4-only receiver has a NAT64 address.
 * A text that is not one address (a name, an address with a zone, the empty string) is not public.
 */
export function isPublicAddress(ip: string): boolean {
  const ipv4 = ipv4In(ip, MAPPED_OR_NAT64);
  if (ipv4 !== null) return !NOT_PUBLIC_IPV4.check(ipv4);
  return isPlainIpv6(ip) && ALLOCATED_IPV6.check(ip, 'ipv6') && !NOT_PUBLIC_IPV6.check(ip, 'ipv6');
}

/** Whether the operator allows this address and port as a target. A target without a port allows port 443. */
export function isInAllowedTarget(ip: string, port: number, allowed: readonly AllowedTarget[]): boolean {
  const ipv4 = ipv4In(ip, MAPPED);
  if (ipv4 === null && !isPlainIpv6(ip)) return false;
  return allowed.some((target) => {
    if ((target.port ?? 443) !== port) return false;
    const { list, isIpv4 } = listOf(target);
    // BlockList compares addresses of different families too.
    return isIpv4 === (ipv4 !== null) && list.check(ipv4 ?? ip, ipv4 ? 'ipv4' : 'ipv6');
  });
}

type TargetList = { list: BlockList; isIpv4: boolean };
const listsOfTargets = new WeakMap<AllowedTarget, TargetList>();

/** Kept for each target: making a list takes 10 µs. */
function listOf(target: AllowedTarget): TargetList {
  const known = listsOfTargets.get(target);
  if (known) return known;
  const { address, prefixBits } = withoutMapping(target);
  const list = { list: networks([`${address}/${prefixBits}`]), isIpv4: isIPv4(address) };
  listsOfTargets.set(target, list);
  return list;
}

function withoutMapping({ address, prefixBits }: AllowedTarget): { address: string; prefixBits: number } {
  const ipv4 = isIPv6(address) && prefixBits >= 96 ? ipv4In(address, MAPPED) : null;
  return ipv4 === null ? { address, prefixBits } : { address: ipv4, prefixBits: prefixBits - 96 };
}

/**
 * An IPv4 address, or the one inside of an IPv6 address; null for anything else.
 * @param form  which IPv6 addresses hold one; captures the last two groups
 */
function ipv4In(ip: string, form: RegExp): string | null {
  // isIPv4 reads an array of one address as that address.
  if (typeof ip !== 'string') return null;
  if (isIPv4(ip)) return ip;
  const groups = isPlainIpv6(ip) ? form.exec(new URL(`http://[${ip}]`).hostname)?.slice(1) : undefined;
  const bytes = groups?.map((group) => parseInt(group, 16)).flatMap((value) => [value >> 8, value & 255]);
  return bytes?.join('.') ?? null;
}

function isPlainIpv6(ip: string): boolean {
  return typeof ip === 'string' && isIPv6(ip) && !ip.includes('%');
}

/** `check` answers false for what it cannot read: pass it addresses of these networks' family only. */
function networks(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address, prefixBits] = cidr.split('/') as [string, string];
    list.addSubnet(address, Number(prefixBits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
}
