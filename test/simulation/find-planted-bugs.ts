// Tests the simulator: adds one bug of planted-bugs.ts at a time, and fails unless the simulator finds each of them, or
// the test file that the bug names.
// node test/simulation/find-planted-bugs.ts [--seeds 60] [--only <words of a name>]: the number of seeds for each bug.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { PlantedBug } from './planted-bug.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '60' }, only: { type: 'string', default: '' } },
});
// A test may wait for what never happens.
const TEST_TIMEOUT_MS = 120_000;
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

for (const bug of PLANTED_BUGS.filter(({ name }) => name.includes(values.only))) {
  const finding = bug.test ? testWith(bug, bug.test) : simulateWith(bug);
  console.log(`${finding ? 'found    ' : 'NOT FOUND'} ${bug.name}: ${finding ?? ''}`);
  if (!finding) process.exitCode = 1;
}

/** The first seed that finds it, with the first rule that it violates; null when none does. */
function simulateWith({ name, isLive = false }: PlantedBug): string | null {
  const args = [here('run.ts'), '--seeds', values.seeds, '--bug', name, ...(isLive ? ['--live'] : [])];
  const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (stderr.includes(' rules:')) return stderr.split('\n').slice(0, 2).join(' ').trim();
  // The changed code may have another mistake than the one that is meant.
  console.error(stderr);
  return null;
}

/** The first test of the file that fails; null when none does. */
function testWith({ name }: PlantedBug, file: string): string | null {
  const env = {
    ...process.env,
    PLANTED_BUG: name,
    NODE_OPTIONS: `--import=${new URL('plant-bug.ts', import.meta.url)}`,
  };
  const options = { env, encoding: 'utf8', timeout: TEST_TIMEOUT_MS } as const;
  const { stdout, error } = spawnSync(process.execPath, [here('../../bin/verbatim'), 'test', file], options);
  if (error) return 'the tests do not end';
  return /^✖ (?!failing tests)(.*)$/m.exec(stdout)?.[1] ?? null;
}
