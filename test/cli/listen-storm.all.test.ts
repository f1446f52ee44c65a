import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forwardThroughStorm } from './listen-storm.ts';

const SEED = Number(process.env['TEST_LISTEN_SEED'] ?? 1);

test(`10,000 events are forwarded through 50 cuts, sleeps and restarts, none lost (seed ${SEED})`, async (t) => {
  const result = await forwardThroughStorm({ events: 10_000, faults: 50, seed: SEED });

  t.diagnostic(JSON.stringify(result));
  assert.deepEqual([result.lost, result.wrong, result.received], [[], [], 10_000]);
  assert.equal(
    Object.values(result.faults).reduce((sum, count) => sum + count),
    50,
  );
  // Those that were under way at a crash, and those of the last 10 s before a restart of the program.
  assert.ok(result.duplicates > 0 && result.duplicates < 10_000, `${result.duplicates} duplicates`);
  assert.ok(result.connections > 40);
});

test('a storm is the same for the same seed', async () => {
  const [first, second, other] = [5, 5, 6].map((seed) => ({ events: 500, faults: 14, seed }));

  const result = await forwardThroughStorm(first!);

  assert.equal(result.received, 500);
  assert.deepEqual(await forwardThroughStorm(second!), result);
  assert.notEqual((await forwardThroughStorm(other!)).trace, result.trace);
});
