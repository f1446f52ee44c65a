// Kills processes of a running service: node test/faults/run.ts [--live] [--kills 1000] [--seed 1] [--database
// embedded|external] Prints kills, accepted jobs, losses and duplicates; exits with code 1 when anything was lost. With
// --live clients hold live sessions and resume them; otherwise they upload.
import { parseArgs } from 'node:util';
import { killProblems, runKills } from './kills.ts';
import { liveKillProblems, runLiveKills } from './live-kills.ts';
import { DATABASES, type DatabaseKind } from './service-under-load.ts';

const { values } = parseArgs({
  options: {
    live: { type: 'boolean', default: false },
    kills: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    database: { type: 'string', default: 'embedded' },
  },
});
const kind = values.database as DatabaseKind;
if (!DATABASES.includes(kind)) throw new Error(`--database is one of ${DATABASES.join(', ')}`);

const kills = Number(values.kills);
const run = {
  kind,
  seed: Number(values.seed),
  kills,
  onKill: (number: number) => number % 50 === 0 && process.stderr.write(`${number} of ${kills} kills\n`),
};
const problems = values.live ? await killLive() : await killUploads();
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);

async function killLive(): Promise<string[]> {
  const report = await runLiveKills(run);
  console.log(JSON.stringify(report, null, 2));
  return liveKillProblems(report);
}

async function killUploads(): Promise<string[]> {
  const report = await runKills(run);
  console.log(JSON.stringify({ database: kind, seed: run.seed, ...report }, null, 2));
  return killProblems(report);
}
