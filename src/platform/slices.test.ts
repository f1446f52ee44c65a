import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { Slices } from './slices.ts';

const STEP_MS = 1;

/** Keeps the event loop for so long, by the clock of the test. */
function openWork(t: test.TestContext) {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const slices = new Slices();
  const steps: string[] = [];
  const work = async (owner: string, count: number) => {
    for (let step = 0; step < count; step++) {
      await slices.turn(owner);
      steps.push(owner);
      nowMs += STEP_MS;
    }
  };
  return { steps, work };
}

test('the event loop turns after 2 ms of steps', async (t) => {
  const { steps, work } = openWork(t);
  const done = work('a', 7);
  const seen: number[] = [];
  while (steps.length < 7) {
    await turnOfTheLoop();
    seen.push(steps.length);
  }
  await done;

  assert.deepEqual(seen, [2, 4, 6, 7]);
});

test('owners take turns, whatever the number of things that each does at once', async (t) => {
  const { steps, work } = openWork(t);
  await Promise.all([work('a', 3), work('a', 3), work('a', 3), work('b', 3)]);

  assert.equal(steps.slice(0, 6).join(''), 'ababab');
});
