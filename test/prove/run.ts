// Judges the promises of two nodes under faults, prints a table and writes docs/proof.md: npm run prove [-- --seed 1]
// is one round of the faults, npm run prove -- --long [--minutes 30 | --seeds 10] round after round, each with a seed
// of its own, and with power cuts where the machine can simulate them. Ends with code 1 when anything is refused, or
// when too little was tried.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../structure/sources.ts';
import { FILE_SYSTEMS, type FileSystem, lackingFor } from './power/power-disk.ts';
import { proofPage, tableOf } from './proof-page.ts';
import { problemsOf, prove, type Run } from './prove.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    long: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '30' },
    seeds: { type: 'string' },
  },
});
const first = Number(values.seed);
const seeds = values.long ? Number(values.seeds ?? Number.POSITIVE_INFINITY) : 1;
const endsAtMs = values.long && !values.seeds ? Number(values.minutes) * 60_000 : Number.POSITIVE_INFINITY;

// Of the state that is tried: the page itself is written later.
const commit = git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') ? ' with changes' : '');
const histories = mkdtempSync(path.join(os.tmpdir(), 'verbatim-prove-'));
const runs: Run[] = [];
for (let seed = first; seed < first + seeds && (runs.length === 0 || performance.now() < endsAtMs); seed++) {
  await add({ seed });
  const fileSystem = FILE_SYSTEMS[seed % FILE_SYSTEMS.length]!;
  if (values.long && lackingFor(fileSystem).length === 0) await add({ seed, fileSystem });
}
for (const name of values.long ? FILE_SYSTEMS : []) {
  const lacking = lackingFor(name);
  if (lacking.length > 0) console.error(`No power cuts on ${name}: this machine lacks ${lacking.join(', ')}`);
}

console.log(`\n${tableOf(runs)}`);
writeFileSync(path.join(ROOT, 'docs/proof.md'), proofPage({ runs, commit, date: new Date() }));
process.exit();

async function add(options: { seed: number; fileSystem?: FileSystem }): Promise<void> {
  const title = `seed ${options.seed}${options.fileSystem ? ` on ${options.fileSystem}` : ''}`;
  const file = path.join(histories, `${title.replaceAll(' ', '-')}.jsonl`);
  const run = await prove({ ...options, file, onFault: (name) => console.log(`${title}: ${name}`) });
  runs.push(run);
  const problems = problemsOf(run);
  for (const problem of problems) console.error(`${title}: ${problem}`);
  if (problems.length === 0) return rmSync(file);
  process.exitCode = 1;
  console.error(`Its calls are in ${file}`);
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}
