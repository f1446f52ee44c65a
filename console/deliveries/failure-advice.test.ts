import assert from 'node:assert/strict';
import test from 'node:test';
import type { Delivery } from '#sdk/api.ts';
import * as service from '../../src/rules/webhooks/delivery-outcome.ts';
import { adviceFor, FAILURE_REASONS, reasonTitle } from './failure-advice.ts';

type Attempt = Parameters<typeof adviceFor>[0];
const NO_TIMES = { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, reused: false };

function failed(reason: NonNullable<Delivery['error']>['reason'], more: Partial<Attempt> = {}): Attempt {
  return { status: 'failed', error: { reason, message: '' }, response_status: null, timings: NO_TIMES, ...more };
}

test('every reason of the service has a title, an explanation and a step', () => {
  assert.deepEqual([...FAILURE_REASONS].sort(), [...service.FAILURE_REASONS].sort());
  for (const reason of service.FAILURE_REASONS) {
    const advice = adviceFor(failed(reason))!;

    assert.ok(reasonTitle(reason).length > 0);
    assert.ok(advice.why.endsWith('.'), reason);
    assert.ok(advice.steps.length > 0, reason);
    for (const step of advice.steps) assert.match(step, /[.]$/, step);
  }
});

test('what succeeded or waits needs no advice; what was dropped does', () => {
  const attempt = { error: null, response_status: null, timings: NO_TIMES };

  assert.equal(adviceFor({ ...attempt, status: 'succeeded' }), null);
  assert.equal(adviceFor({ ...attempt, status: 'pending' }), null);
  assert.match(adviceFor({ ...attempt, status: 'dropped' })!.steps.join(), /recover/);
});

const STATUSES: [status: number, step: RegExp][] = [
  [400, /signature debugger/],
  [403, /custom header/],
  [404, /path/],
  [413, /256 KiB/],
  [429, /attempts per second/],
  [500, /exception/],
  [503, /restart/],
  [418, /2xx/],
];
for (const [status, step] of STATUSES) {
  test(`the advice for a ${status} is of that status`, () => {
    const advice = adviceFor(failed('http_status', { response_status: status }))!;

    assert.equal(advice.title, `Answered ${status}`);
    assert.match(advice.steps.join(' '), step);
  });
}

test('a timeout after the request was sent is the handler, one before it the network or the TLS handshake', () => {
  const waited = failed('timeout', { timings: { ...NO_TIMES, dns_ms: 1, connect_ms: 2, tls_ms: 3 } });
  const reused = failed('timeout', { timings: { ...NO_TIMES, reused: true } });
  const handshaking = failed('timeout', { timings: { ...NO_TIMES, dns_ms: 1, connect_ms: 2 } });
  const unreached = failed('timeout', { timings: { ...NO_TIMES, dns_ms: 1 } });

  assert.match(adviceFor(waited)!.steps[0]!, /answer 2xx/);
  assert.match(adviceFor(reused)!.title, /answer/);
  assert.match(adviceFor(handshaking)!.title, /TLS handshake/);
  assert.match(adviceFor(unreached)!.steps[0]!, /firewall/);
});
