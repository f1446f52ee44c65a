import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Delivery } from '#sdk/api.ts';
import { offsetText, placeOnAxis } from './axis.ts';
import { groupByEvent } from './groups.ts';

const START = Date.parse('2026-03-18T10:00:00Z');
const at = (seconds: number) => new Date(START + 1_000 * seconds).toISOString();

function entry(changed: Partial<Delivery>): Delivery {
  const made = { status: 'failed', duration_ms: 500, next_attempt_at: null, url: 'https://a.example/' } as const;
  return { event_id: 'evt_1', event_type: 'webhook.test', webhook_id: 'wh_1', ...made, ...changed } as Delivery;
}

test('attempts lie on one axis at the time when they were sent, and the waiting one when it will be', () => {
  const attempts = [
    entry({ completed_at: at(0.5) }),
    entry({ completed_at: at(30.5) }),
    entry({ completed_at: null, duration_ms: null, status: 'pending', next_attempt_at: at(330) }),
  ];

  const marks = placeOnAxis(attempts);

  assert.deepEqual(
    marks.map(({ at: time, afterMs }) => [time, afterMs]),
    [
      [at(0), null],
      [at(30), 30_000],
      [at(330), 330_000],
    ],
  );
  assert.ok(marks[1]!.gap > marks[0]!.gap && marks[1]!.gap < 10 * marks[0]!.gap);
});

test('an attempt that was dropped has no time and no distance', () => {
  const [, dropped] = placeOnAxis([
    entry({ completed_at: at(1) }),
    entry({ status: 'dropped', completed_at: null, duration_ms: null }),
  ]);

  assert.deepEqual([dropped!.at, dropped!.afterMs, dropped!.gap], [null, null, 1]);
});

for (const [ms, text] of [
  [0, '+0.0 s'],
  [31_200, '+31 s'],
  [330_000, '+6 min'],
  [7_200_000, '+2.0 h'],
  [3 * 86_400_000, '+3 d'],
] as const) {
  test(`${ms} ms after the first attempt are ${text}`, () => assert.equal(offsetText(ms), text));
}

test('entries are grouped by event and webhook, newest event first and oldest attempt first', () => {
  const entries = [
    entry({ id: '4', event_id: 'evt_2' }),
    entry({ id: '3', attempt: 2 }),
    entry({ id: '2', webhook_id: 'wh_2' }),
    entry({ id: '1', attempt: 1 }),
  ];

  const groups = groupByEvent(entries);

  assert.deepEqual(
    groups.map(({ eventId, webhooks }) => [eventId, webhooks.map(({ attempts }) => attempts.map(({ id }) => id))]),
    [
      ['evt_2', [['4']]],
      ['evt_1', [['1', '3'], ['2']]],
    ],
  );
});
