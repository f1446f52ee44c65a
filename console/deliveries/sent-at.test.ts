import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentAt } from './sent-at.ts';

test('an attempt was sent as long before its end as it took', () => {
  const sent = sentAt({ completed_at: '2026-11-21T09:30:05.250Z', duration_ms: 5_000 });

  assert.equal(sent, '2026-11-21T09:30:00.250Z');
});

test('an attempt that waits, or was dropped, was not sent', () => {
  assert.equal(sentAt({ completed_at: null, duration_ms: null }), null);
  assert.equal(sentAt({ completed_at: '2026-11-21T09:30:05.250Z', duration_ms: null }), null);
});
