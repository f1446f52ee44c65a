import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasonOfConnection } from './connection-failure.ts';

const coded = (code: string) => Object.assign(new Error('not shown'), { code });

const CASES: [code: string, reason: RegExp | null][] = [
  ['ENOTFOUND', /name cannot be resolved/],
  ['EAI_AGAIN', /name cannot be resolved/],
  ['ECONNREFUSED', /nothing listens/],
  ['EHOSTUNREACH', /no route/],
  ['ECONNRESET', /^closed the connection/],
  ['UND_ERR_SOCKET', /^closed the connection/],
  ['UND_ERR_CONNECT_TIMEOUT', /in time/],
  ['ETIMEDOUT', /in time/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /NODE_EXTRA_CA_CERTS/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /NODE_EXTRA_CA_CERTS/],
  ['CERT_HAS_EXPIRED', /not valid today.*clock/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /another name/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /does not speak TLS/],
  ['HPE_INVALID_CONSTANT', /does not speak HTTP/],
  ['ENOSPC', null],
];

for (const [code, reason] of CASES) {
  test(`${code} has ${reason === null ? 'no reason of the connection' : 'its reason'}, also as the cause of an error`, () => {
    const found = [coded(code), new TypeError('fetch failed', { cause: coded(code) })].map(reasonOfConnection);

    for (const text of found) reason === null ? assert.equal(text, null) : assert.match(text!, reason);
  });
}

test('a timeout of the caller is an answer that did not come in time', () => {
  assert.equal(reasonOfConnection(new DOMException('', 'TimeoutError')), 'does not answer in time');
  assert.equal(reasonOfConnection(null), null);
});
