import { isIP } from 'node:net';

/** A network that receivers may lie in although it is not public; `port` null means 443 only. */
export type AllowedTarget = { address: string; prefixBits: number; port: number | null };

type Address = { bits: 32 | 128; value: bigint };
type Network = Address & { prefixBits: number };

/** What is not globally reachable, by the IANA special-purpose registry, and the metadata address in a public range. */
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

// IPv6 is public by proof only: the one range that is allocated, less what is special inside it.
const ALLOCATED_IPV6 = network('2000::/3');
const NOT_PUBLIC_IPV6 = networks([
  '2001::/23', // Teredo, benchmarking, ORCHID, AMT, AS112
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: an IPv4 address in disguise
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // the old 6bone
  '3fff::/20', // documentation
]);

// On networks with DNS64 every IPv4-only receiver looks like this, so the form is unwrapped, not refused.
const NAT64 = network('64:ff9b::/96');
const MAPPED = network('::ffff:0:0/96');

/**
 * Whether an address is globally reachable. Mapped and NAT64 forms are judged by the IPv4 address inside.
 * Anything that is not the text of one address (a name, a zone id, nothing) is not public.
 */
export function isPublicAddress(ip: string): boolean {
  const address = readAddress(ip);
  if (address === null) return false;
  if (address.bits === 32) return !isInAny(address, NOT_PUBLIC_IPV4);
  if (contains(NAT64, address)) return !isInAny(embeddedIpv4(address), NOT_PUBLIC_IPV4);
  return contains(ALLOCATED_IPV6, address) && !isInAny(address, NOT_PUBLIC_IPV6);
}

/** Whether the operator opened this address for this port. A target without a port opens 443. */
export function isInAllowedTarget(ip: string, port: number, allowed: readonly AllowedTarget[]): boolean {
  const address = readAddress(ip);
  if (address === null) return false;
  return allowed.some((target) => (target.port ?? 443) === port && contains(targetNetwork(target), address));
}

/** An address as a number; a mapped one (::ffff:a.b.c.d) as the IPv4 address it is. Null for anything else. */
function readAddress(ip: string): Address | null {
  // isIP reads an array of one address as that address.
  const family = typeof ip === 'string' ? isIP(ip) : 0;
  if (family === 4) return { bits: 32, value: ipv4Value(ip) };
  if (family !== 6 || ip.includes('%')) return null;
  const address: Address = { bits: 128, value: ipv6Value(ip) };
  return contains(MAPPED, address) ? embeddedIpv4(address) : address;
}

function targetNetwork(target: AllowedTarget): Network {
  const whole = network(`${target.address}/${target.prefixBits}`);
  const isMapped = whole.bits === 128 && whole.prefixBits >= 96 && contains(MAPPED, whole);
  return isMapped ? { ...embeddedIpv4(whole), prefixBits: whole.prefixBits - 96 } : whole;
}

function embeddedIpv4(address: Address): Address {
  return { bits: 32, value: address.value & 0xffff_ffffn };
}

function isInAny(address: Address, nets: readonly Network[]): boolean {
  return nets.some((net) => contains(net, address));
}

function contains(net: Network, address: Address): boolean {
  const shift = BigInt(net.bits - net.prefixBits);
  return net.bits === address.bits && net.value >> shift === address.value >> shift;
}

function networks(cidrs: readonly string[]): Network[] {
  return cidrs.map(network);
}

function network(cidr: string): Network {
  const [ip, prefixBits] = cidr.split('/') as [string, string];
  const isIpv4 = isIP(ip) === 4;
  return {
    bits: isIpv4 ? 32 : 128,
    value: isIpv4 ? ipv4Value(ip) : ipv6Value(ip),
    prefixBits: Number(prefixBits),
  };
}

function ipv4Value(ip: string): bigint {
  return ip.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);
}

/** @param ip  one that isIP calls 6, without a zone */
function ipv6Value(ip: string): bigint {
  const [head, tail] = ip.split('::') as [string, string | undefined];
  const before = ipv6Groups(head);
  const after = tail === undefined ? [] : ipv6Groups(tail);
  const zeros = new Array<bigint>(8 - before.length - after.length).fill(0n);
  return [...before, ...zeros, ...after].reduce((value, group) => value * 65_536n + group, 0n);
}

function ipv6Groups(part: string): bigint[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [BigInt(`0x${group}`)];
    const value = ipv4Value(group);
    return [value >> 16n, value & 0xffffn];
  });
}
