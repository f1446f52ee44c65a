import assert from 'node:assert/strict';
import test from 'node:test';
import type { Sql } from '../../db/database.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import type { WebhookSettings } from '../scheduler/webhook-settings.ts';
import type { WaitingDelivery } from './due-store.ts';
import { WebhookCache } from './webhook-cache.ts';

const NOW_MS = 1_000_000;
const ACTIVE: WebhookSettings = {
  id: 'w1',
  shard: 0,
  url: '',
  secret: Buffer.alloc(0),
  previousSecret: null,
  previousSecretEndsAt: null,
  state: 'active',
  isHealthy: true,
  maxPerSecond: null,
  headers: null,
  include: ['text', 'segments'],
};

/**
 * How many of three deliveries start at once, after the webhook was forgotten and is read again with the settings as
 * known.
 */
function startsWith(settings: WebhookSettings): number {
  const scheduler = new Scheduler<WaitingDelivery>();
  const cache = new WebhookCache({} as Sql, scheduler, () => 0);
  scheduler.addShard(0, NOW_MS - 10_000);
  cache.keep(settings, { read: scheduler.beginRead(), sentAtMs: 0 });
  scheduler.spill({ id: 'w1', shard: 0 });
  const [refill] = scheduler.refills(1, NOW_MS);
  const row = { shard: 0, accountId: 'a', webhookId: 'w1', eventId: 'e', eventType: 't', attempt: 1, attemptId: 'x' };
  const rows = ['d1', 'd2', 'd3'].map((id) => ({
    ...row,
    id,
    jobId: null,
    traceparent: null,
    nextAtMs: NOW_MS,
    readAtMs: NOW_MS,
    body: null,
    bodyBytes: 0,
  }));

  cache.apply('w1');
  scheduler.refilled(refill!.read, rows, null);

  let starts = 0;
  while (scheduler.next(NOW_MS)) starts += 1;
  return starts;
}

test('a webhook that is read again without its settings keeps those that are known', () => {
  assert.equal(startsWith(ACTIVE), 3);
  assert.equal(startsWith({ ...ACTIVE, maxPerSecond: 1 }), 1);
  assert.equal(startsWith({ ...ACTIVE, state: 'inactive' }), 0);
});

test('settings are as old as the read that brought them: what was changed while it ran may be missing', () => {
  const scheduler = new Scheduler<WaitingDelivery>();
  let nowMs = 700;
  const cache = new WebhookCache({} as Sql, scheduler, () => nowMs);
  // Sent at 0, answered at 700.
  cache.keep(ACTIVE, { read: scheduler.beginRead(), sentAtMs: 0 });

  const answered = cache.fresh('w1');
  nowMs = 751;

  assert.deepEqual([answered, cache.fresh('w1')], [ACTIVE, null]);
});

test('at its limit the cache forgets the webhook that was read longest ago, and none of the last read', () => {
  const scheduler = new Scheduler<WaitingDelivery>();
  const cache = new WebhookCache({} as Sql, scheduler, () => 0);
  const keep = (id: string, read: number) => cache.keep({ ...ACTIVE, id }, { read, sentAtMs: 0 });
  const first = scheduler.beginRead();
  for (let number = 0; number < 19_999; number += 1) keep(`old${number}`, first);
  const last = scheduler.beginRead();

  keep('old0', last);
  for (const id of ['new0', 'new1', 'new2']) keep(id, last);

  const kept = ['old0', 'old1', 'old2', 'old3', 'new0', 'new1', 'new2'].filter((id) => cache.get(id) !== null);
  assert.deepEqual(kept, ['old0', 'old3', 'new0', 'new1', 'new2']);
});
