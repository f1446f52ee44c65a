import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { makeAuthority, makeSelfSigned } from './certificates.ts';

test('an issued certificate is valid for its names and addresses, and signed by its authority', () => {
  const authority = makeAuthority();

  const issued = new X509Certificate(authority.issue({ hosts: ['localhost', '127.0.0.1', '::1'] }).cert);

  assert.equal(issued.verify(new X509Certificate(authority.cert).publicKey), true);
  assert.equal(issued.checkHost('localhost'), 'localhost');
  assert.equal(issued.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(issued.checkIP('::1'), '::1');
  assert.equal(issued.checkHost('example.com'), undefined);
});

test('an authority is marked as one, and a certificate ends at the requested time', () => {
  const notAfter = new Date('2051-02-03T04:05:06Z');

  const authority = new X509Certificate(makeAuthority().cert);
  const issued = new X509Certificate(makeSelfSigned({ hosts: ['a.example'], notAfter }).cert);

  assert.equal(authority.ca, true);
  assert.equal(issued.ca, false);
  assert.equal(new Date(issued.validTo).toISOString(), notAfter.toISOString());
});
