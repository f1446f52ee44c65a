import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import type { Database } from '../../db/database.ts';
import { openLog } from '../../platform/log.ts';
import { type Place, StopError, WorkLoop } from './work-loop.ts';

const AWAY = Object.assign(new Error('the connection is lost'), { code: '08006' });

type UnderWay = Place & { id: string; end(): void; fail(cause: Error): void };

/** A loop over a queue of ids in memory; what it executes ends when the test says so. */
async function openEnvironment({
  queue = [],
  places = 2,
  most,
  endsAdmitMore = false,
}: {
  queue?: string[];
  places?: number;
  most?: number;
  endsAdmitMore?: boolean;
}) {
  const clock = openManualClock();
  const lines: string[] = [];
  const keep = (level: string) => (fields: { back_off_ms?: number }, message: string) =>
    void lines.push([level, message, fields.back_off_ms].filter((part) => part !== undefined).join(' '));
  const log = Object.assign(openLog('silent'), { warn: keep('warn'), error: keep('error') });
  let notify: () => void = () => undefined;
  const db = {
    listen: async (_channel: string, onNotify: () => void) => {
      notify = onNotify;
      return async () => undefined;
    },
  } as unknown as Database;
  const state = { claims: [] as number[], failure: null as Error | null, underWay: [] as UnderWay[] };
  const loop = new WorkLoop<{ id: string }>(runtimeOn(db, { clock, log }), {
    name: 'things',
    channel: 'things_due',
    places,
    ...(most && { most }),
    endsAdmitMore,
    async claim(free) {
      state.claims.push(free);
      if (state.failure) throw state.failure;
      const claimed = queue.splice(0, free).map((id) => ({ id }));
      return { claimed, isDrained: claimed.length < free };
    },
    execute({ id }, place) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const underWay = { ...place, id, end: resolve, fail: reject };
      state.underWay.push(underWay);
      return promise.finally(() => state.underWay.splice(state.underWay.indexOf(underWay), 1));
    },
  });
  await loop.start();
  await turnOfTheLoop();
  const ids = () => state.underWay.map(({ id }) => id);
  const settle = () => turnOfTheLoop();
  return Object.assign(state, { clock, lines, queue, loop, ids, settle, notify: () => notify() });
}

test('one claim fills all free places, and the end of work frees a place for the next', async () => {
  const environment = await openEnvironment({ queue: ['a', 'b', 'c'] });
  const first = environment.ids();

  environment.underWay[0]!.end();
  await environment.settle();

  assert.deepEqual(
    [first, environment.ids(), environment.claims],
    [
      ['a', 'b'],
      ['b', 'c'],
      [2, 1],
    ],
  );
});

test('when all was claimed, the end of work is no reason to look for more, and a notification is', async () => {
  const environment = await openEnvironment({ queue: ['a', 'b'], places: 3 });

  environment.underWay[0]!.end();
  await environment.settle();
  const afterEnd = [...environment.claims];
  environment.queue.push('c', 'd');
  environment.notify();
  await environment.settle();
  environment.queue.push('e');
  environment.underWay[0]!.end();
  await environment.settle();

  assert.deepEqual([afterEnd, environment.claims], [[3], [3, 2, 1]]);
  assert.deepEqual(environment.ids(), ['c', 'd', 'e']);
});

test('work whose end admits more is looked for when work ends', async () => {
  const environment = await openEnvironment({ queue: ['a'], places: 2, endsAdmitMore: true });

  environment.underWay[0]!.end();
  await environment.settle();

  assert.deepEqual(environment.claims, [2, 2]);
});

test('work that leaves its place is followed by other work, but only so much is under way', async () => {
  const environment = await openEnvironment({ queue: ['a', 'b', 'c', 'd'], places: 1, most: 3 });
  const seen = [];

  for (const position of [0, 1, 2]) {
    environment.underWay[position]!.leave();
    environment.underWay[position]!.leave();
    await environment.settle();
    seen.push(environment.ids());
  }
  environment.underWay[0]!.end();
  await environment.settle();

  assert.deepEqual(seen, [
    ['a', 'b'],
    ['a', 'b', 'c'],
    ['a', 'b', 'c'],
  ]);
  assert.deepEqual(environment.ids(), ['b', 'c', 'd']);
});

test('work is claimed upon a notification, and without one after a second', async () => {
  const environment = await openEnvironment({});
  environment.queue.push('announced');
  environment.notify();
  await environment.settle();
  const announced = environment.ids();

  environment.queue.push('not announced');
  await environment.clock.advance(999);
  const before = environment.ids();
  await environment.clock.advance(1);

  assert.deepEqual([announced, before], [['announced'], ['announced']]);
  assert.deepEqual(environment.ids(), ['announced', 'not announced']);
});

test('a claim that fails is made again, later from time to time, and is an error unless the database is away', async () => {
  const environment = await openEnvironment({});
  environment.failure = AWAY;
  environment.notify();
  await environment.settle();
  await environment.clock.advance(250 + 500);
  environment.failure = new Error('a bug');
  await environment.clock.advance(1_000);
  environment.failure = null;
  environment.queue.push('a');
  await environment.clock.advance(2_000);

  const away = 'warn claiming things failed: the database is unavailable';
  assert.deepEqual(environment.lines, [
    `${away} 250`,
    `${away} 500`,
    `${away} 1000`,
    'error claiming things failed 2000',
  ]);
  assert.deepEqual(environment.ids(), ['a']);
});

test('work whose result could not be written is logged, and leaves its place', async () => {
  const environment = await openEnvironment({ queue: ['a', 'b'], places: 1 });

  environment.underWay[0]!.fail(new Error('no space'));
  await environment.settle();

  assert.match(environment.lines[0]!, /^error .* starts again when its lease ends$/);
  assert.deepEqual(environment.ids(), ['b']);
});

test('a stop tells the work under way, claims nothing more, and waits for 8 s', async () => {
  const environment = await openEnvironment({ queue: ['a', 'b', 'c'] });
  const [first, second] = environment.underWay;
  let isStopped = false;
  const stop = environment.loop.stop().then(() => {
    isStopped = true;
  });

  await environment.settle();
  first!.end();
  await environment.clock.advance(7_999);
  const before = isStopped;
  await environment.clock.advance(1);
  await stop;

  assert.ok(second!.signal.reason instanceof StopError);
  assert.deepEqual([before, environment.ids(), environment.claims], [false, ['b'], [2]]);
});
