import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AllowedTarget, isInAllowedTarget, isPublicAddress } from './address.ts';

// For each special network: its first and last address, and the public neighbours just outside (none where the
// neighbour is special too).
const SPECIAL: { what: string; inside: string[]; outside: string[] }[] = [
  { what: 'this host, 0/8', inside: ['0.0.0.0', '0.255.255.255'], outside: ['1.0.0.0'] },
  { what: 'private, 10/8', inside: ['10.0.0.0', '10.255.255.255'], outside: ['9.255.255.255', '11.0.0.0'] },
  {
    what: 'carrier NAT, 100.64/10',
    inside: ['100.64.0.0', '100.127.255.255'],
    outside: ['100.63.255.255', '100.128.0.0'],
  },
  {
    what: 'loopback, 127/8',
    inside: ['127.0.0.0', '127.0.0.1', '127.255.255.255'],
    outside: ['126.255.255.255', '128.0.0.0'],
  },
  { what: 'Azure WireServer', inside: ['168.63.129.16'], outside: ['168.63.129.15', '168.63.129.17'] },
  {
    what: 'link-local, 169.254/16',
    inside: ['169.254.0.0', '169.254.255.255'],
    outside: ['169.253.255.255', '169.255.0.0'],
  },
  { what: 'private, 172.16/12', inside: ['172.16.0.0', '172.31.255.255'], outside: ['172.15.255.255', '172.32.0.0'] },
  { what: 'protocol assignments', inside: ['192.0.0.0', '192.0.0.255'], outside: ['191.255.255.255', '192.0.1.0'] },
  { what: 'documentation 1', inside: ['192.0.2.0', '192.0.2.255'], outside: ['192.0.1.255', '192.0.3.0'] },
  { what: 'AS112 v4', inside: ['192.31.196.0', '192.31.196.255'], outside: ['192.31.195.255', '192.31.197.0'] },
  { what: 'AMT', inside: ['192.52.193.0', '192.52.193.255'], outside: ['192.52.192.255', '192.52.194.0'] },
  { what: '6to4 relays', inside: ['192.88.99.0', '192.88.99.255'], outside: ['192.88.98.255', '192.88.100.0'] },
  {
    what: 'private, 192.168/16',
    inside: ['192.168.0.0', '192.168.255.255'],
    outside: ['192.167.255.255', '192.169.0.0'],
  },
  { what: 'AS112 direct', inside: ['192.175.48.0', '192.175.48.255'], outside: ['192.175.47.255', '192.175.49.0'] },
  { what: 'benchmarking', inside: ['198.18.0.0', '198.19.255.255'], outside: ['198.17.255.255', '198.20.0.0'] },
  { what: 'documentation 2', inside: ['198.51.100.0', '198.51.100.255'], outside: ['198.51.99.255', '198.51.101.0'] },
  { what: 'documentation 3', inside: ['203.0.113.0', '203.0.113.255'], outside: ['203.0.112.255', '203.0.114.0'] },
  { what: 'multicast', inside: ['224.0.0.0', '239.255.255.255'], outside: ['223.255.255.255'] },
  { what: 'reserved and broadcast', inside: ['240.0.0.0', '255.255.255.254', '255.255.255.255'], outside: [] },
  { what: 'IPv6 unspecified and loopback', inside: ['::', '::1', '0:0:0:0:0:0:0:1'], outside: [] },
  { what: 'IPv4-compatible', inside: ['::127.0.0.1', '::8.8.8.8', '::7f00:1', '::a9fe:a9fe'], outside: [] },
  { what: 'SIIT ::ffff:0:0:0/96', inside: ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'], outside: [] },
  {
    what: 'local-use NAT64',
    inside: ['64:ff9b:1::', '64:ff9b:1::808:808', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
    outside: [],
  },
  { what: 'beside NAT64', inside: ['64:ff9b:2::', '64:ff9b:0:0:0:1:808:808', '64:ff9a::808:808'], outside: [] },
  { what: 'discard-only and dummy prefix', inside: ['100::', '100::1', '100:0:0:1::1'], outside: [] },
  {
    what: 'unallocated below 2000::/3',
    inside: ['200::1', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    outside: ['2000::'],
  },
  {
    what: 'Teredo and protocol assignments',
    inside: ['2001::', '2001:0:7f00:1::', '2001:2::1', '2001:10::1', '2001:20::1', '2001:1ff:ffff::'],
    outside: ['2001:200::'],
  },
  {
    what: 'documentation v6',
    inside: ['2001:db8::', '2001:db8:ffff:ffff::1'],
    outside: ['2001:db7:ffff::1', '2001:db9::'],
  },
  {
    what: '6to4',
    inside: ['2002::', '2002:7f00:1::', '2002:808:808::1', '2002:a9fe:a9fe::', '2002:ffff::'],
    outside: ['2001:ffff::1', '2003::'],
  },
  {
    what: 'AS112 v6',
    inside: ['2620:4f:8000::', '2620:4f:8000:ffff::1'],
    outside: ['2620:4f:7fff::1', '2620:4f:8001::'],
  },
  { what: '6bone', inside: ['3ffe::', '3ffe:ffff::1'], outside: ['3ffd:ffff::1'] },
  { what: 'documentation v6, 3fff::/20', inside: ['3fff::', '3fff:fff:ffff::1'], outside: ['3fff:1000::'] },
  {
    what: 'unallocated above 2000::/3',
    inside: ['4000::', '5f00::1', '8000::1', 'a000::1', 'e000::1', 'f000::1', 'f800::1', 'fb00::1', 'fe00::1'],
    outside: ['3fff:ffff::1'],
  },
  { what: 'unique local', inside: ['fc00::', 'fd00::1', 'fdff:ffff::1'], outside: [] },
  { what: 'link-local v6', inside: ['fe80::', 'fe80::1', 'febf:ffff::1'], outside: [] },
  { what: 'site-local', inside: ['fec0::', 'feff::1'], outside: [] },
  { what: 'multicast v6', inside: ['ff00::', 'ff02::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'], outside: [] },
];

for (const { what, inside, outside } of SPECIAL) {
  test(`not public: ${what}; its neighbours are`, () => {
    assert.deepEqual(inside.filter(isPublicAddress), []);
    assert.deepEqual(
      outside.filter((ip) => !isPublicAddress(ip)),
      [],
    );
  });
}

const METADATA = [
  ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '169.254.42.42', '169.254.0.23', '169.254.169.253'],
  ...['100.100.100.200', '192.0.0.192', '168.63.129.16'],
  ...['fd00:ec2::254', 'fd00:ec2::23', 'fd00:ec2::253', 'fd20:ce::254', 'fe80::a9fe:a9fe'],
];

test('no metadata address of a cloud is public, bare, mapped or behind NAT64', () => {
  const ipv4 = METADATA.filter((ip) => !ip.includes(':'));
  const disguised = ipv4.flatMap((ip) => [`::ffff:${ip}`, `64:ff9b::${ip}`, `::${ip}`]);

  assert.deepEqual([...METADATA, ...disguised].filter(isPublicAddress), []);
});

const PUBLIC = [
  ...['1.1.1.1', '8.8.8.8', '93.184.215.14', '104.16.0.1', '223.255.255.254', '192.0.1.1', '172.217.0.1'],
  ...['2606:4700:4700::1111', '2a00:1450:4001::200e', '2001:4860:4860::8888', '2400::1', '2C0F:FB50::1'],
  ...['::ffff:8.8.8.8', '::ffff:808:808', '0:0:0:0:0:FFFF:8.8.8.8', '64:ff9b::8.8.8.8', '64:ff9b::808:808'],
];

test('ordinary addresses are public, in every spelling', () => {
  assert.deepEqual(
    PUBLIC.filter((ip) => !isPublicAddress(ip)),
    [],
  );
});

test('mapped and NAT64 forms are classified by the IPv4 address inside', () => {
  const inside = SPECIAL.flatMap((row) => row.inside).filter((ip) => !ip.includes(':'));
  const outside = SPECIAL.flatMap((row) => row.outside).filter((ip) => !ip.includes(':'));

  assert.deepEqual(inside.flatMap((ip) => [`::ffff:${ip}`, `64:ff9b::${ip}`]).filter(isPublicAddress), []);
  assert.deepEqual(
    outside.flatMap((ip) => [`::ffff:${ip}`, `64:ff9b::${ip}`]).filter((ip) => !isPublicAddress(ip)),
    [],
  );
});

const NO_ADDRESS = [
  ...[
    '',
    ' ',
    'example.com',
    '8.8.8',
    '8.8.8.8.',
    ' 8.8.8.8',
    '8.8.8.8 ',
    '8.8.8.8/32',
    '8.8.8.256',
    '08.8.8.8',
    '0x8.8.8.8',
  ],
  ...[
    '134744072',
    '[2606:4700::1]',
    '2606:4700::1%eth0',
    'fe80::1%lo',
    '2606:4700:::1',
    '2606:4700',
    '2606::1::1',
    'undefined',
  ],
  ...['8.8.8.8\n', '2606:4700::1\n', '８.8.8.8', '2606:4700::1/64', '::ffff:8.8.8', '::ffff:8.8.8.8.8'],
];

test('what is not the text of one address is not public and in no target', () => {
  const all: AllowedTarget[] = [
    { address: '0.0.0.0', prefixBits: 0, port: null },
    { address: '::', prefixBits: 0, port: null },
  ];

  assert.deepEqual(NO_ADDRESS.filter(isPublicAddress), []);
  assert.deepEqual(
    NO_ADDRESS.filter((text) => isInAllowedTarget(text, 443, all)),
    [],
  );
  assert.equal(isPublicAddress(undefined as unknown as string), false);
  assert.equal(isPublicAddress(['8.8.8.8'] as unknown as string), false);
});

const ALLOWED: { target: AllowedTarget; yes: [string, number][]; no: [string, number][] }[] = [
  {
    target: { address: '127.0.0.1', prefixBits: 32, port: 8443 },
    yes: [
      ['127.0.0.1', 8443],
      ['::ffff:127.0.0.1', 8443],
      ['::ffff:7f00:1', 8443],
    ],
    no: [
      ['127.0.0.1', 443],
      ['127.0.0.1', 8444],
      ['127.0.0.2', 8443],
      ['::1', 8443],
      ['::127.0.0.1', 8443],
      ['64:ff9b::127.0.0.1', 8443],
    ],
  },
  {
    target: { address: '10.1.2.3', prefixBits: 8, port: null },
    yes: [
      ['10.0.0.0', 443],
      ['10.255.255.255', 443],
    ],
    no: [
      ['10.0.0.1', 80],
      ['11.0.0.0', 443],
      ['9.255.255.255', 443],
    ],
  },
  {
    target: { address: '192.168.1.128', prefixBits: 25, port: null },
    yes: [
      ['192.168.1.128', 443],
      ['192.168.1.255', 443],
    ],
    no: [
      ['192.168.1.127', 443],
      ['192.168.2.128', 443],
    ],
  },
  {
    target: { address: 'fd00::', prefixBits: 8, port: 8443 },
    yes: [
      ['fd00::1', 8443],
      ['fdff:ffff::1', 8443],
    ],
    no: [
      ['fc00::1', 8443],
      ['fe00::1', 8443],
      ['253.0.0.1', 8443],
    ],
  },
  {
    target: { address: '::1', prefixBits: 128, port: null },
    yes: [
      ['::1', 443],
      ['0:0:0:0:0:0:0:1', 443],
    ],
    no: [
      ['::', 443],
      ['::2', 443],
      ['0.0.0.1', 443],
      ['127.0.0.1', 443],
    ],
  },
  {
    target: { address: '::ffff:10.0.0.0', prefixBits: 104, port: null },
    yes: [
      ['10.9.9.9', 443],
      ['::ffff:10.9.9.9', 443],
    ],
    no: [['11.0.0.0', 443]],
  },
  {
    // Wider than the mapped forms, so it is a network of IPv6 and holds no IPv4 address.
    target: { address: '::ffff:10.0.0.0', prefixBits: 64, port: null },
    yes: [['::1', 443]],
    no: [
      ['10.0.0.1', 443],
      ['::ffff:10.0.0.1', 443],
      ['8.8.8.8', 443],
    ],
  },
  {
    target: { address: '::', prefixBits: 0, port: null },
    yes: [
      ['::1', 443],
      ['fd00::1', 443],
    ],
    no: [
      ['127.0.0.1', 443],
      ['::ffff:127.0.0.1', 443],
    ],
  },
  { target: { address: '0.0.0.0', prefixBits: 0, port: null }, yes: [['127.0.0.1', 443]], no: [['::1', 443]] },
];

for (const { target, yes, no } of ALLOWED) {
  test(`allowed target ${target.address}/${target.prefixBits} port ${target.port} opens its own network and port only`, () => {
    assert.deepEqual(
      yes.filter(([ip, port]) => !isInAllowedTarget(ip, port, [target])),
      [],
    );
    assert.deepEqual(
      no.filter(([ip, port]) => isInAllowedTarget(ip, port, [target])),
      [],
    );
  });
}

test('without allowed targets nothing is in one', () => {
  assert.equal(isInAllowedTarget('8.8.8.8', 443, []), false);
});
