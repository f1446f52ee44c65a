import assert from 'node:assert/strict';
import test from 'node:test';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Database } from '../../db/database.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { DatabaseClock } from '../ownership/database-clock.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import type { DelivererParts } from './deliverer-parts.ts';
import type { WaitingDelivery } from './due-store.ts';
import { Reader } from './reader.ts';

const SHARD = 3;

/** A reader on a clock, whose reads bring nothing. `readAfter` gives how long before the read its rows begin. */
async function openReader() {
  let nowMs = 100_000;
  const fromMs: number[] = [];
  let searches = 0;
  const rows: Database['rows'] = async ({ name, values }) => {
    if (name === 'read-due-deliveries') fromMs.push(values![1] as number);
    else searches += 1;
    return [];
  };
  const databaseClock = new DatabaseClock(() => nowMs);
  databaseClock.adjust(nowMs);
  const parts = {
    ...runtimeOn({ rows } as Partial<Database> as Database),
    monotonicMs: () => nowMs,
    databaseClock,
    scheduler: new Scheduler<WaitingDelivery>(),
    ownership: { epochOf: () => 1, openShards: () => [SHARD] },
    wake: () => undefined,
  } as unknown as DelivererParts;
  const reader = new Reader(parts);
  const readAfter = async (ms: number) => {
    nowMs += ms;
    const reads = fromMs.length;
    assert.equal(reader.read(), Number.POSITIVE_INFINITY);
    await until('the read', () => fromMs.length > reads);
    // The answer is processed before the next read.
    await new Promise(setImmediate);
    return nowMs - fromMs.at(-1)!;
  };
  reader.taken([SHARD]);
  await until('the search', () => searches === 1);
  await readAfter(0);
  return { reader, readAfter };
}

test('a row that is committed 250 ms after its time was set is read upon its notification', async () => {
  const { reader, readAfter } = await openReader();

  reader.notify(String(SHARD));
  const lookBackMs = await readAfter(200);
  await reader.stop();

  assert.equal(lookBackMs, 200 + 250);
});

test('a row that is committed 10 s after its time was set, without a notification, is read by a poll', async () => {
  const { reader, readAfter } = await openReader();

  const lookBackMs = await readAfter(BOUNDS.deliveryPollMs);
  await reader.stop();

  assert.equal(lookBackMs, 10_000);
});
