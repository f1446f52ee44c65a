import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { PLANTED_BUGS } from './planted-bugs.ts';
import type { SeedReport } from './simulate.ts';
import { SMALLER_LIMITS } from './smaller-limits.ts';

const RUN = fileURLToPath(new URL('run.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
// The long run is `node test/simulation/run.ts --seeds 500`.
const SEEDS = 60;
// A busy machine runs fewer seeds, but enough for some faults.
const MAX_SECONDS = 40;
const MIN_SEEDS = 5;

test('no seed violates a rule', async () => {
  const bounds = ['--for-seconds', String(MAX_SECONDS), '--at-least', String(MIN_SEEDS)];
  const run = await runSeeds(['--seeds', String(SEEDS), ...bounds]);

  assert.equal(run.code, 0, run.errors);
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

test('a slow machine runs the smallest number of seeds, whatever time they take', async () => {
  const run = await runSeeds(['--seeds', '3', '--for-seconds', '0', '--at-least', '2']);

  assert.equal(run.code, 0, run.errors);
  assert.equal(run.totals.seeds, 2);
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

test('what each planted bug and smaller limit changes is an export of its module', async () => {
  const changes = [...PLANTED_BUGS.flatMap((bug) => bug.changes), ...SMALLER_LIMITS];
  const missing: string[] = [];
  for (const { file, exports } of changes) {
    const names = Object.keys(await import(ROOT + file));
    missing.push(...Object.keys(exports).filter((name) => !names.includes(name)));
  }

  assert.ok(PLANTED_BUGS.length >= 40);
  assert.deepEqual(missing, []);
});

type Totals = { seeds: number; jobs: number; arrivals: number; faults: number };

/** A run without jobs, requests or faults would prove nothing. */
function assertFaultsHappened({ seeds, jobs, arrivals, faults }: Totals): void {
  assert.ok(seeds >= MIN_SEEDS, `only ${seeds} seeds were run`);
  assert.ok(jobs > seeds && arrivals > seeds && faults > seeds, JSON.stringify({ seeds, jobs, arrivals, faults }));
}

type Result = { code: number; errors: string; totals: Totals; seeds: SeedReport[] };

async function runSeeds(args: string[]): Promise<Result> {
  const child = spawn(process.execPath, [RUN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const [code] = await once(child, 'close');
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { code, errors, totals: lines.at(-1), seeds: lines.slice(0, -1) };
}
