// Tests the simulator: adds one bug of planted-bugs.ts at a time, and fails unless the simulator finds each of them.
// node test/simulation/find-planted-bugs.ts [--seeds 40], the number of seeds for each bug.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PLANTED_BUGS } from './planted-bugs.ts';

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '40' } } });
const RUN = fileURLToPath(new URL('run.ts', import.meta.url));

for (const { name } of PLANTED_BUGS) {
  const args = [RUN, '--seeds', values.seeds, '--bug', name];
  const run = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const isFound = run.stderr.includes(' rules:');
  console.log(`${isFound ? 'found    ' : 'NOT FOUND'} ${name}: ${run.stderr.split('\n').slice(0, 2).join(' ').trim()}`);
  if (!isFound) process.exitCode = 1;
}
