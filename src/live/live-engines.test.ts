import assert from 'node:assert/strict';
import test from 'node:test';
import { openManualClock } from '../../test/fixtures/manual-clock.ts';
import { runtimeOn } from '../../test/fixtures/runtime.ts';
import type { Database } from '../db/database.ts';
import type { LiveEngine } from '../engines/live/live-engine.ts';
import { ApiError } from '../http/api-error.ts';
import { LiveEngines } from './live-engines.ts';

const PLACES = 8;

function openEngines(places = PLACES) {
  const runtime = runtimeOn({} as Database, { clock: openManualClock() });
  const engine = { capacity: () => places, [Symbol.asyncDispose]: async () => undefined } as Partial<LiveEngine>;
  const engines = new LiveEngines(runtime, async () => engine as LiveEngine);
  const take = (accountId: string, isUnlimited = false) => engines.take('pro', { accountId, isUnlimited });
  /** Takes places until one is refused. */
  const takeAll = async (accountId: string, isUnlimited = false) => {
    const taken = [];
    try {
      while (true) taken.push(await take(accountId, isUnlimited));
    } catch (cause) {
      assert.ok(cause instanceof ApiError && cause.type === 'unavailable');
      return taken;
    }
  };
  return { engines, take, takeAll };
}

test('an account leaves a quarter of the places to accounts that have none, and an unlimited one takes all', async () => {
  const { takeAll } = openEngines();
  assert.equal((await takeAll('acct_a')).length, 6);
  assert.equal((await takeAll('acct_b')).length, 1);
  assert.equal((await takeAll('acct_c')).length, 1);

  assert.equal((await openEngines().takeAll('acct_a', true)).length, PLACES);
  assert.equal((await openEngines(1).takeAll('acct_a')).length, 1);
});

test('a place that rests is free for others, and is taken again where one is left', async () => {
  const { take, takeAll } = openEngines(2);
  const first = await take('acct_a');
  await take('acct_b');
  await assert.rejects(take('acct_c'), ApiError);
  first.rest();
  const third = await take('acct_c');
  const whileFull = first.wake();
  third.free();

  assert.deepEqual([whileFull, first.wake(), first.wake()], [false, true, true]);
  first.free();
  first.free();
  assert.equal(first.wake(), false);
  assert.equal((await takeAll('acct_d')).length, 1);
});
