// The test of the test: breaks the code on purpose, one fault after the other, and wants each of them found.
// node test/simulation/find-planted-bugs.ts [--seeds 40]: how many seeds each break may take.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BREAKS } from './planted-bugs.ts';

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '40' } } });
const RUN = fileURLToPath(new URL('run.ts', import.meta.url));

for (const { name } of BREAKS) {
  const args = [RUN, '--seeds', values.seeds, '--break', name];
  const run = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const isFound = run.stderr.includes(' rules:');
  console.log(`${isFound ? 'found    ' : 'NOT FOUND'} ${name}: ${run.stderr.split('\n').slice(0, 2).join(' ').trim()}`);
  if (!isFound) process.exitCode = 1;
}
