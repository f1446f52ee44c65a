import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { BREAKS } from './breaks.ts';

const RUN = fileURLToPath(new URL('run.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
// The long run is `node test/simulation/run.ts --seeds 500`.
const SEEDS = 60;
// A machine that has other work to do runs fewer of them.
const MOST_SECONDS = 40;

test('no seed breaks a rule', async () => {
  const run = await runWorlds(['--seeds', String(SEEDS), '--for-seconds', String(MOST_SECONDS)]);

  assert.equal(run.code, 0, run.errors);
});

test('a fence that is taken away is found, and the seed that found it says so', async () => {
  const run = await runWorlds(['--seeds', '20', '--break', 'a failed attempt counts twice']);

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

async function runWorlds(args: string[]): Promise<{ code: number; errors: string }> {
  const child = spawn(process.execPath, [RUN, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, errors };
}
