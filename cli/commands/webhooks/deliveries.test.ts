import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phasesOf } from './deliveries.ts';

const NONE = { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, reused: false };

test('the phases of an attempt that came to their end are named, and an open connection that it used', () => {
  assert.equal(
    phasesOf({ timings: { ...NONE, dns_ms: 0.4, connect_ms: 2.6, tls_ms: 9 } }),
    'dns 0 ms, connect 3 ms, tls 9 ms',
  );
  assert.equal(
    phasesOf({ timings: { ...NONE, reused: true, first_byte_ms: 40 } }),
    'on the connection of an earlier attempt, first byte 40 ms',
  );
  assert.equal(phasesOf({ timings: NONE }), null);
});
