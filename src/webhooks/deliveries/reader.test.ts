import assert from 'node:assert/strict';
import test from 'node:test';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Database } from '../../db/database.ts';
import { DatabaseClock } from '../ownership/database-clock.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import type { DelivererParts } from './deliverer-parts.ts';
import type { WaitingDelivery } from './due-store.ts';
import { Reader } from './reader.ts';

const SHARD = 3;

test('a row that is committed 250 ms after its time was set is read 50 ms after the read that missed it', async () => {
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
  reader.notify(String(SHARD));
  const upToCommitMs = await readAfter(10);

  const lookBackMs = await readAfter(50);
  reader.notify(String(SHARD));
  const nextMs = await readAfter(10);
  await reader.stop();

  assert.ok(upToCommitMs < 100, `${upToCommitMs} ms`);
  assert.ok(lookBackMs >= 250, `${lookBackMs} ms`);
  assert.ok(nextMs < 100, `${nextMs} ms`);
});
