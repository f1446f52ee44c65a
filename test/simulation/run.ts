// Simulates seeds: node test/simulation/run.ts [--seeds 500] [--from 1] [--for-seconds 600 [--at-least 10]] [--bug
// name] [--live] Prints each seed that violates a rule, with the violations, and exits with code 1 then. `--from <seed>
// --seeds 1` replays a seed, exactly if the report of `--verbose` says isReplayable. `--bug` adds one of
// planted-bugs.ts. `--live` takes only seeds that have live sessions.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { randomFrom } from '../fixtures/random.ts';
import { hookModules } from './fakes/hooks.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import type { SeedReport } from './simulate.ts';

const MAX_SHOWN = 10;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '500' },
    from: { type: 'string', default: '1' },
    bug: { type: 'string' },
    live: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
const bug = PLANTED_BUGS.find(({ name }) => name === values.bug) ?? null;
if (values.bug && !bug) throw new Error(`There is no planted bug ${values.bug}.`);
hookModules(bug?.changes ?? []);

// `npm test` provides a database; a run from the command line starts one.
const own = process.env['TEST_DATABASE_URL'] ? null : await startPostgres();
if (own) process.env['TEST_DATABASE_URL'] = own.url;
await runSeeds();
await own?.stop();

async function runSeeds(): Promise<void> {
  const { openSimulatedPostgres } = await import('./database.ts');
  const { beginSimulating, LIVE_EVERY, simulate } = await import('./simulate.ts');
  const startedAtMs = performance.now();
  const first = Number(values.from);
  const totals = { seeds: 0, jobs: 0, events: 0, arrivals: 0, faults: 0, failed: 0 };
  await using postgres = await openSimulatedPostgres();
  beginSimulating(randomFrom(first));
  const step = values.live ? LIVE_EVERY : 1;
  const from = Math.ceil(first / step) * step;
  for (let seed = from; seed < from + step * Number(values.seeds); seed += step) {
    const report = await simulate(postgres, seed).catch((cause: unknown) => {
      throw new Error(`seed ${seed} ended with an error`, { cause });
    });
    totals.seeds++;
    totals.jobs += report.jobs;
    totals.events += report.events;
    totals.arrivals += report.arrivals;
    totals.faults += report.faults;
    if (values.verbose) console.log(JSON.stringify(report));
    if (report.violations.length === 0) continue;
    totals.failed++;
    printViolations(report);
    // One seed is enough to find a planted bug.
    if (bug) break;
  }
  console.log(JSON.stringify({ ...totals, seconds: Math.round((performance.now() - startedAtMs) / 100) / 10 }));
}

function printViolations({ seed, violations }: SeedReport): void {
  process.exitCode = 1;
  console.error(`seed ${seed} violates ${violations.length} rules:`);
  for (const violation of violations.slice(0, MAX_SHOWN)) console.error(`  ${violation}`);
}

async function startPostgres() {
  const { startEmbedded } = await import('../../src/db/embedded/server.ts');
  const home = mkdtempSync(path.join(os.tmpdir(), 'verbatim-simulation-'));
  const log = { debug() {}, warn() {} };
  const server = await startEmbedded({
    dir: path.join(home, 'database'),
    log,
    settings: { fsync: 'off', autovacuum: 'off' },
    mayCreateDatabases: true,
  });
  return {
    url: server.url,
    async stop() {
      await server.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
