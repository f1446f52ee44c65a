// Kills processes of a running service: node test/faults/run.ts [--kills 1000] [--seed 1] [--database
// embedded|external] Prints kills, accepted jobs, losses and duplicates; exits with code 1 when anything was lost.
import { parseArgs } from 'node:util';
import { killProblems, runKills } from './kills.ts';
import { DATABASES, type DatabaseKind } from './service-under-load.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    database: { type: 'string', default: 'embedded' },
  },
});
const kind = values.database as DatabaseKind;
if (!DATABASES.includes(kind)) throw new Error(`--database is one of ${DATABASES.join(', ')}`);

const kills = Number(values.kills);
const report = await runKills({
  kind,
  seed: Number(values.seed),
  kills,
  onKill: (number) => number % 50 === 0 && process.stderr.write(`${number} of ${kills} kills\n`),
});
console.log(JSON.stringify({ database: kind, seed: Number(values.seed), ...report }, null, 2));
const problems = killProblems(report);
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);
