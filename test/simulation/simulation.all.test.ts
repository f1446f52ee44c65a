import assert from 'node:assert/strict';
import test from 'node:test';
import { assertFaultsHappened, type Result, runSeeds } from './run-seeds.ts';

// The long run is `node test/simulation/run.ts --seeds 500`.
const SEEDS = 60;

test('no seed violates a rule', async () => {
  const run = await runSeeds(['--seeds', String(SEEDS)]);

  assert.equal(run.code, 0, run.errors);
  assert.equal(run.totals.seeds, SEEDS);
  assertFaultsHappened(run.totals);
});

test('seeds are replayed, unless several statements waited for the same lock', async () => {
  const args = ['--from', '2', '--seeds', '4', '--verbose'];
  const [first, second] = await Promise.all([runSeeds(args), runSeeds(args)]);
  // What a seed that was not has left, such as the order of rows, may change those after it.
  const replayable = ({ seeds }: Result) => {
    const end = seeds.findIndex(({ isReplayable }) => !isReplayable);
    return end === -1 ? seeds : seeds.slice(0, end);
  };

  assert.ok(replayable(first).length > 0);
  assert.deepEqual(replayable(first), replayable(second));
});

const FOUND: [bug: string, violation: RegExp][] = [
  ['a failed attempt counts twice', /^ {2}streaks: /m],
  ['a job fails while its engine is away', /^ {2}jobs: job_\w+ failed although an engine could do it: /m],
];
for (const [bug, violation] of FOUND) {
  test(`a planted bug is found, and the output names the seed and the rule: ${bug}`, async () => {
    const run = await runSeeds(['--seeds', '20', '--bug', bug]);

    assert.equal(run.code, 1);
    assert.match(run.errors, /seed \d+ violates \d+ rules:\n/);
    assert.match(run.errors, violation);
  });
}
