import assert from 'node:assert/strict';
import test from 'node:test';
import type { Delivery } from '#sdk/api.ts';
import { isListed, logQuery } from './log-query.ts';

const entry = {
  id: 'dlv_1',
  webhook_id: 'wh_1',
  event_id: 'evt_1',
  event_type: 'webhook.test',
  attempt: 2,
  status: 'failed',
  response_status: 503,
  error: { reason: 'http_status', message: '' },
  created_at: '2026-11-21T09:30:00.000Z',
} as Delivery;

const CASES: [query: Record<string, string>, isListed: boolean][] = [
  [{}, true],
  [{ status: 'failed', attempt: '2', reason: 'http_status', status_class: '5xx', event_type: 'webhook.test' }, true],
  [{ status: 'succeeded' }, false],
  [{ attempt: '1' }, false],
  [{ reason: 'timeout' }, false],
  [{ status_class: '2xx' }, false],
  [{ webhook_id: 'wh_2' }, false],
  [{ event_id: 'evt_2' }, false],
  [{ after: '2026-11-21T09:30:00.000Z', before: '2026-11-21T09:31:00.000Z' }, true],
  [{ after: '2026-11-21T09:30:01.000Z' }, false],
  [{ before: '2026-11-21T09:29:00.000Z' }, false],
];
for (const [query, expected] of CASES) {
  test(`an entry is ${expected ? '' : 'not '}listed under ${JSON.stringify(query)}`, () => {
    assert.equal(isListed(entry, query), expected);
  });
}

test('an entry without an answer has neither a reason nor a class of status', () => {
  const pending = { ...entry, status: 'pending', response_status: null, error: null } as Delivery;

  assert.deepEqual(
    [isListed(pending, { reason: 'timeout' }), isListed(pending, { status_class: '5xx' })],
    [false, false],
  );
});

test('only the filters of the log are sent', () => {
  assert.deepEqual(logQuery({ tab: 'log', status: 'failed', span: '7d' }), { status: 'failed' });
});
