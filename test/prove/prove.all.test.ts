import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serviceProgram } from '../fixtures/service.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import { problemsOf, prove } from './prove.ts';

test('two nodes keep every promise under every fault', async () => {
  const run = await prove({ seed: 5 });

  assert.deepEqual(problemsOf(run), []);
  assert.equal(run.faults.length, 10);
  assert.equal(run.rows.length, 9);
});

test('promises that planted bugs break are refused', async () => {
  const env = { NODE_OPTIONS: `--import=${fileURLToPath(new URL('plant.ts', import.meta.url))}` };
  const only = PLANTED_BUGS.map(({ promise }) => promise);

  // A change of another key hides the second bug in every other history.
  const { rows } = await prove({ seed: 6, faults: [], only, env, answers: 150 });

  const kept = rows.filter(({ refused }) => refused.length === 0).map(({ promise }) => promise);
  assert.deepEqual(kept, []);
  assert.equal(rows.length, PLANTED_BUGS.length);
});

test('the bundle has the text that each planted bug changes once', () => {
  const files = globSync(path.join(path.dirname(serviceProgram()), '*.js'));
  const bundle = files.map((file) => readFileSync(file, 'utf8'));

  for (const { name, original } of PLANTED_BUGS) assert.equal(bundle.join('').split(original).length, 2, name);
});
