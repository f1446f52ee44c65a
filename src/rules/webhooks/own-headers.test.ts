import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { findHeaderProblem, redacted, withoutServiceHeaders } from './own-headers.ts';

const PREFIX = 'X-Service-';
const ten = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`X-${index}`, 'a']));

const ALLOWED: Record<string, string>[] = [
  {},
  { Authorization: 'Bearer abc==' },
  { 'X-Tenant': 'a b c', Cookie: 'a=1; b=2', "!#$%&'*+.^_`|~9": '~' },
  ten,
  { 'X-A': 'v'.repeat(4_093) },
];
for (const headers of ALLOWED) {
  test(`${Object.keys(headers).join().slice(0, 60) || 'no headers'}: allowed`, () => {
    assert.equal(findHeaderProblem(headers, PREFIX), null);
  });
}

const REFUSED: [Record<string, string>, RegExp][] = [
  [{ ...ten, 'X-More': 'a' }, /at most 10 headers/],
  [{ 'X-A': 'v'.repeat(4_094) }, /at most 4096 bytes/],
  [{ 'X-A': 'a', 'x-a': 'b' }, /twice/],
  [{ '': 'a' }, /name/],
  [{ 'X A': 'a' }, /name/],
  [{ 'X-A:': 'a' }, /name/],
  [{ 'X-Ä': 'a' }, /name/],
  [{ 'X-A\r\nX-B': 'a' }, /name/],
  ...['', ' a', 'a ', 'a\r\nX-B: b', 'a\nb', 'a\tb', 'ä', '\u0000', '世'].map(
    (value): [Record<string, string>, RegExp] => [{ 'X-A': value }, /value/],
  ),
  ...[
    ...['Host', 'Content-Type', 'content-length', 'Content-Encoding', 'Transfer-Encoding', 'Connection', 'Keep-Alive'],
    ...['TE', 'Trailer', 'Upgrade', 'Expect', 'Proxy-Authorization', 'Accept', 'Accept-Encoding', 'User-Agent', 'Date'],
    ...['X-Service-Signature', 'x-service-anything', 'webhook-id', 'Webhook-Signature', 'If-None-Match', 'Range'],
  ].map((name): [Record<string, string>, RegExp] => [{ [name]: 'a' }, /service or HTTP uses/]),
];
for (const [headers, problem] of REFUSED) {
  test(`${JSON.stringify(headers).slice(0, 60)}: refused`, () => {
    assert.match(findHeaderProblem(headers, PREFIX) ?? 'allowed', problem);
  });
}

test("the service's own prefix is reserved as it is set", () => {
  assert.equal(findHeaderProblem({ 'X-Service-A': 'a' }, 'Acme-'), null);
  assert.match(findHeaderProblem({ 'ACME-Signature': 'a' }, 'Acme-')!, /service or HTTP uses/);
});

test('whatever bytes a header has, one that is allowed is a single line of HTTP', () => {
  const random = randomFrom(7);
  const text = () =>
    Array.from({ length: random.integer(6) }, () =>
      String.fromCharCode(random.integer(random.pick([128, 0x3000]))),
    ).join('');
  for (let i = 0; i < 20_000; i++) {
    const [name, value] = [text(), text()];
    if (findHeaderProblem({ [name]: value }, PREFIX) !== null) continue;
    assert.match(`${name}: ${value}`, /^[!-9;-~]+: [ -~]+$/);
  }
});

test('a header that the service sets now is left out, and the log has no value', () => {
  const own = { 'acme-signature': 'forged', Authorization: 'Bearer abc' };

  assert.deepEqual(withoutServiceHeaders(own, { 'Acme-Signature': 'genuine' }), { Authorization: 'Bearer abc' });
  assert.deepEqual(redacted(own), { 'acme-signature': '[redacted]', Authorization: '[redacted]' });
});
