import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { BREAKS } from './planted-bugs.ts';

const RUN = fileURLToPath(new URL('run.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
// The long run is `node test/simulation/run.ts --seeds 500`.
const SEEDS = 60;
// A machine that has other work to do runs fewer of them, but never too few to meet with trouble.
const MOST_SECONDS = 40;
const FEWEST_SEEDS = 5;

test('no seed breaks a rule', async () => {
  const bounds = ['--for-seconds', String(MOST_SECONDS), '--at-least', String(FEWEST_SEEDS)];
  const run = await runSeeds(['--seeds', String(SEEDS), ...bounds]);

  assert.equal(run.code, 0, run.errors);
  assertTroubled(run.totals);
});

test('a machine that is too slow for its time runs the fewest seeds nevertheless', async () => {
  const run = await runSeeds(['--seeds', '3', '--for-seconds', '0', '--at-least', '2']);

  assert.equal(run.code, 0, run.errors);
  assert.equal(run.totals.seeds, 2);
});

test('a fence that is taken away is found, and the seed that found it says so', async () => {
  const run = await runSeeds(['--seeds', '20', '--break', 'a failed attempt counts twice']);

  assert.equal(run.code, 1);
  assert.match(run.errors, /seed \d+ broke \d+ rules:\n {2}streaks: /);
});

test('every break still fits the code', () => {
  const stale = BREAKS.flatMap(({ changes }) => changes).filter(
    ({ file, find }) => !readFileSync(ROOT + file, 'utf8').includes(find),
  );

  assert.ok(BREAKS.length >= 10);
  assert.deepEqual(stale, []);
});

type Totals = { seeds: number; jobs: number; arrivals: number; faults: number };

/** A run in which nothing happened proves nothing. */
function assertTroubled({ seeds, jobs, arrivals, faults }: Totals): void {
  assert.ok(seeds >= FEWEST_SEEDS, `only ${seeds} seeds were run`);
  assert.ok(jobs > seeds && arrivals > seeds && faults > seeds, JSON.stringify({ seeds, jobs, arrivals, faults }));
}

async function runSeeds(args: string[]): Promise<{ code: number; errors: string; totals: Totals }> {
  const child = spawn(process.execPath, [RUN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, errors, totals: JSON.parse(output.trim().split('\n').at(-1)!) };
}
