import assert from 'node:assert/strict';
import test from 'node:test';
import { differencesOf } from './differences.ts';
import { ownerOfHeader } from './headers.ts';

type Attempt = Parameters<typeof differencesOf>[0];

function attempt(more: Partial<Attempt> = {}): Attempt {
  return {
    url: 'https://a.example/',
    status: 'failed',
    response_status: 500,
    remote_address: '203.0.113.7',
    error: { reason: 'http_status', message: '' },
    request: { headers: { 'Content-Type': 'application/json' }, body: '{}' },
    response: { headers: { server: 'nginx', date: 'one' }, body: 'no' },
    timings: { dns_ms: 1, connect_ms: 2, tls_ms: 3, first_byte_ms: 40, reused: false },
    duration_ms: 50,
    ...more,
  };
}

test('an attempt does not differ from itself, nor by what is new at each attempt', () => {
  const headers = (n: number) => ({
    'X-Service-Signature': `s${n}`,
    'X-Service-Timestamp': `t${n}`,
    'X-Service-Delivery-Id': `d${n}`,
    'X-Service-Attempt': `${n}`,
    'webhook-signature': `w${n}`,
    'webhook-timestamp': `${n}`,
  });
  const one = attempt({ request: { headers: headers(1), body: '{}' } });
  const two = attempt({
    request: { headers: headers(2), body: '{}' },
    response: { headers: { server: 'nginx', date: 'two' }, body: 'no' },
  });

  assert.deepEqual(differencesOf(one, one, 'X-Service-'), []);
  assert.deepEqual(differencesOf(one, two, 'X-Service-'), []);
  assert.equal(differencesOf(one, two, 'X-Other-').length, 4);
});

test('the outcome, the place, headers and bodies that changed are named with both values', () => {
  const after = attempt({
    url: 'https://b.example/',
    status: 'succeeded',
    response_status: 204,
    error: null,
    remote_address: '203.0.113.8',
    request: { headers: { 'content-type': 'application/json', Authorization: '(hidden)' }, body: '{}' },
    response: { headers: { date: 'two', 'x-a': ['1', '2'] }, body: '' },
  });

  assert.deepEqual(differencesOf(attempt(), after, 'X-Service-'), [
    { what: 'Outcome', before: 'failed, 500', after: 'succeeded, 204' },
    { what: 'URL', before: 'https://a.example/', after: 'https://b.example/' },
    { what: 'Address', before: '203.0.113.7', after: '203.0.113.8' },
    { what: 'Request header authorization', before: null, after: '(hidden)' },
    { what: 'Answer header server', before: 'nginx', after: null },
    { what: 'Answer header x-a', before: null, after: '1, 2' },
    { what: 'Answer body', before: 'no', after: '' },
  ]);
});

test('another event in the headers is a difference', () => {
  const request = (id: string) => attempt({ request: { headers: { 'webhook-id': id }, body: '{}' } });

  assert.deepEqual(differencesOf(request('evt_1'), request('evt_2'), 'X-Service-'), [
    { what: 'Request header webhook-id', before: 'evt_1', after: 'evt_2' },
  ]);
});

test('a phase is named when it took twice as long, and not for the variation of a network', () => {
  const after = attempt({
    timings: { dns_ms: 40, connect_ms: 4, tls_ms: null, first_byte_ms: 400, reused: false },
    duration_ms: 90,
  });

  assert.deepEqual(differencesOf(attempt(), after, 'X-Service-'), [
    { what: 'First byte', before: '40 ms', after: '400 ms' },
  ]);
});

test('an attempt that sent nothing differs in its outcome and address, not in each header', () => {
  const unsent = attempt({ response_status: null, error: { reason: 'dns', message: '' }, remote_address: null });
  const after = { ...unsent, request: null, response: null };

  assert.deepEqual(
    differencesOf(attempt(), after, 'X-Service-').map(({ what }) => what),
    ['Outcome', 'Address'],
  );
});

test('a header is of the service, of the webhook or of HTTP', () => {
  const ownerOf = (name: string) => ownerOfHeader(name, ['Authorization'], 'X-Service-');

  assert.deepEqual(['x-service-attempt', 'Webhook-Id', 'authorization', 'Content-Type'].map(ownerOf), [
    ...['service', 'service', 'own', 'http'],
  ]);
});
