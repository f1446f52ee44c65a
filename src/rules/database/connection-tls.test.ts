import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConnectionTls, readConnectionUrl } from './connection-tls.ts';

const BASE = 'postgres://u:p%3Fw@db.example.com:5432/v';

const MEANINGS: [string, Partial<ConnectionTls> | null][] = [
  ['', null],
  ['application_name=x&ssl=true', null],
  ['sslmode=disable', { use: 'never', check: 'nothing' }],
  ['sslmode=allow', { use: 'maybe', check: 'nothing' }],
  ['sslmode=prefer', { use: 'maybe', check: 'nothing' }],
  ['sslmode=prefer&sslrootcert=/ca.pem', { use: 'maybe', check: 'nothing' }],
  ['sslmode=require', { use: 'always', check: 'nothing', rootCertificate: null }],
  ['sslmode=no-verify', { use: 'always', check: 'nothing' }],
  ['sslmode=require&sslrootcert=/ca.pem', { use: 'always', check: 'chain', rootCertificate: '/ca.pem' }],
  ['sslmode=verify-ca&sslrootcert=%2Fa%20b%2Bc.pem', { use: 'always', check: 'chain', rootCertificate: '/a b+c.pem' }],
  ['sslmode=verify-ca', { use: 'always', check: 'name' }],
  ['sslmode=verify-full', { use: 'always', check: 'name', rootCertificate: null }],
  ['sslmode=verify-full&sslrootcert=/ca.pem', { use: 'always', check: 'name', rootCertificate: '/ca.pem' }],
  ['sslrootcert=system', { use: 'always', check: 'name', rootCertificate: 'system' }],
  ['sslrootcert=/ca.pem', { use: 'always', check: 'name', rootCertificate: '/ca.pem' }],
  ['host=%2Frun%2Fpostgresql&sslmode=verify-full', { use: 'never' }],
  [
    'sslmode=verify-full&sslcert=/c.pem&sslkey=/k.pem&sslpassword=s%26t',
    { client: { certificate: '/c.pem', key: '/k.pem', passphrase: 's&t' } },
  ],
];

for (const [query, expected] of MEANINGS) {
  test(`"${query}" is read as libpq reads it`, () => {
    const read = readConnectionUrl(`${BASE}?${query}`);

    assert.ok(!('mistake' in read));
    if (expected === null) assert.equal(read.tls, null);
    else assert.deepEqual({ ...read.tls, ...expected }, read.tls);
    assert.doesNotMatch(read.url, /sslmode|sslrootcert|sslcert|sslkey|sslpassword/);
    assert.ok(read.url.startsWith(BASE));
  });
}

test('what the client reads by itself stays in the URL', () => {
  const read = readConnectionUrl(
    `${BASE}?options=-c%20a%3Db&sslmode=require&channel_binding=require&connect_timeout=3`,
  );

  assert.ok(!('mistake' in read));
  assert.equal(read.url, `${BASE}?options=-c%20a%3Db&connect_timeout=3`);
  assert.deepEqual([read.bindsChannel, read.isTlsDirect], [true, false]);
});

for (const [query, mistake] of [
  ['sslmode=on', /sslmode=on; it must be one of disable, allow, prefer, require, verify-ca, verify-full$/],
  ['sslmode=require&sslrootcert=system', /set sslmode=verify-full/],
  ['sslcert=/c.pem', /sslcert and sslkey/],
  ['sslmode=prefer&sslnegotiation=direct', /sslnegotiation=direct with sslmode=prefer/],
  ['sslmode=verify-full&sslcrl=/crl.pem', /sslcrl, which this service does not apply/],
] as const) {
  test(`"${query}" is refused`, () => {
    const read = readConnectionUrl(`${BASE}?${query}`);
    assert.ok('mistake' in read);
    assert.match(read.mistake, mistake);
  });
}
