import assert from 'node:assert/strict';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { PLANTED_BUGS } from './planted-bugs.ts';
import { assertFaultsHappened, runSeeds } from './run-seeds.ts';
import { SMALLER_LIMITS } from './smaller-limits.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SEEDS = 5;

test('no seed violates a rule', async () => {
  const run = await runSeeds(['--seeds', String(SEEDS)]);

  assert.equal(run.code, 0, run.errors);
  assert.equal(run.totals.seeds, SEEDS);
  assertFaultsHappened(run.totals);
});

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
