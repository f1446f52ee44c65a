import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AllowedTarget, evaluateAddresses, type UrlTarget } from './url-guard.ts';

const LOOPBACK_8443: AllowedTarget = { address: '127.0.0.1', prefixBits: 32, port: 8443 };
const PRIVATE_443: AllowedTarget = { address: '10.0.0.0', prefixBits: 8, port: null };

function target(overrides: Partial<UrlTarget>): UrlTarget {
  return {
    href: 'https://example.com/',
    hostname: 'example.com',
    port: 443,
    isTls: true,
    literal: null,
    isLocalName: false,
    ...overrides,
  };
}

const CLASSIFIED: {
  what: string;
  target: Partial<UrlTarget>;
  addresses: string[];
  allowed?: AllowedTarget[];
  ok: boolean;
}[] = [
  { what: 'one public address', target: {}, addresses: ['8.8.8.8'], ok: true },
  { what: 'public addresses of both families', target: {}, addresses: ['8.8.8.8', '2606:4700::1'], ok: true },
  { what: 'no address', target: {}, addresses: [], ok: false },
  { what: 'a private address', target: {}, addresses: ['10.0.0.1'], ok: false },
  { what: 'a private address behind a public one', target: {}, addresses: ['8.8.8.8', '10.0.0.1'], ok: false },
  { what: 'a public address behind a loopback one', target: {}, addresses: ['::1', '8.8.8.8'], ok: false },
  { what: 'a mapped loopback address', target: {}, addresses: ['::ffff:127.0.0.1'], ok: false },
  { what: 'text that is no address', target: {}, addresses: ['8.8.8.8', 'localhost'], ok: false },
  { what: 'an address with a zone', target: {}, addresses: ['fe80::1%eth0'], ok: false },
  { what: 'a metadata address in a public range', target: {}, addresses: ['168.63.129.16'], ok: false },
  { what: 'a public address at another port', target: { port: 8443 }, addresses: ['8.8.8.8'], ok: false },
  {
    what: 'a public address at a port opened elsewhere',
    target: { port: 8443 },
    addresses: ['8.8.8.8'],
    allowed: [LOOPBACK_8443],
    ok: false,
  },
  {
    what: 'an opened address at its port',
    target: { port: 8443 },
    addresses: ['127.0.0.1'],
    allowed: [LOOPBACK_8443],
    ok: true,
  },
  { what: 'an opened address at 443', target: {}, addresses: ['127.0.0.1'], allowed: [LOOPBACK_8443], ok: false },
  {
    what: 'an opened and a public address at 443',
    target: {},
    addresses: ['10.0.0.1', '8.8.8.8'],
    allowed: [PRIVATE_443],
    ok: true,
  },
  {
    what: 'an opened and a closed address',
    target: {},
    addresses: ['10.0.0.1', '192.168.0.1'],
    allowed: [PRIVATE_443],
    ok: false,
  },
  {
    what: 'a local name that leads to a public address',
    target: { isLocalName: true },
    addresses: ['8.8.8.8'],
    allowed: [PRIVATE_443],
    ok: false,
  },
  {
    what: 'a local name that leads to an opened address',
    target: { isLocalName: true },
    addresses: ['10.0.0.1'],
    allowed: [PRIVATE_443],
    ok: true,
  },
  {
    what: 'a local name that leads there and elsewhere',
    target: { isLocalName: true },
    addresses: ['10.0.0.1', '8.8.8.8'],
    allowed: [PRIVATE_443],
    ok: false,
  },
  {
    what: 'a local name without an address',
    target: { isLocalName: true },
    addresses: [],
    allowed: [PRIVATE_443],
    ok: false,
  },
];

for (const row of CLASSIFIED) {
  test(`${row.ok ? 'connects to' : 'never connects to'} ${row.what}`, () => {
    const verdict = evaluateAddresses({
      target: target(row.target),
      addresses: row.addresses,
      allowed: row.allowed ?? [],
    });

    assert.equal(verdict.kind, row.ok ? 'ok' : 'refused');
  });
}

test('the refusal of a name does not tell which address it has inside', () => {
  const verdict = evaluateAddresses({ target: target({}), addresses: ['10.11.12.13'], allowed: [] });

  assert.ok(verdict.kind === 'refused' && !verdict.message.includes('10.11'));
});
