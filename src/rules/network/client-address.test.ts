import assert from 'node:assert/strict';
import test from 'node:test';
import { clientOf, guesserOf, networkOf } from './client-address.ts';

const CASES: [address: string, client: string][] = [
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
];

for (const [address, client] of CASES) {
  test(`${address} is the client ${client}`, () => {
    assert.equal(clientOf(address), client);
  });
}

test('whoever guesses is counted by the /56 of an IPv6 address', () => {
  assert.deepEqual(['2001:db8:0:12ff::1', '2001:db8:0:1200:9::', '::ffff:192.0.2.1', '192.0.2.1'].map(guesserOf), [
    '2001:db8:0:1200::/56',
    '2001:db8:0:1200::/56',
    '192.0.2.1',
    '192.0.2.1',
  ]);
});

test('a network is the /48 of an IPv6 address', () => {
  assert.deepEqual(['2001:db8:0:12ff::1', '2001:db8::9', '::ffff:192.0.2.1', '192.0.2.1'].map(networkOf), [
    '2001:db8:0::/48',
    '2001:db8:0::/48',
    '192.0.2.1',
    '192.0.2.1',
  ]);
});
