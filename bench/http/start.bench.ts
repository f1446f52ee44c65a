// How long from the start of the process to /readyz, on a new data directory and on one that was used before, and the
// processor time until then of each kind of process.
import { rmSync } from 'node:fs';
import { openService, temporaryFolder } from '../../test/fixtures/service.ts';
import { startServiceDatabase } from '../database.ts';
import { report, round, spread } from '../figures.ts';
import { ownProcessorUs, reapedProcessorUs } from '../processor-time.ts';
import { serviceProcesses } from '../service-processes.ts';

const ROUNDS = 5;

/** The processor times by kind, in ms. */
type Start = { readyMs: number; processorMs: Map<string, number> };

const first: Start[] = [];
const again: Start[] = [];
for (let round = 0; round < ROUNDS; round++) {
  await using database = await startServiceDatabase();
  const dataDir = temporaryFolder();
  first.push(await measureStart(dataDir, database.env));
  again.push(await measureStart(dataDir, database.env));
  rmSync(dataDir, { recursive: true });
}
report('start to ready, first time, ms (median of 5)', String(median(first, ({ readyMs }) => readyMs)), '<= 3000');
report('start to ready, again, ms (median of 5)', String(median(again, ({ readyMs }) => readyMs)), '<= 1000');
report('processor time of all processes, first time, ms', String(median(first, sumOf)), '–');
report('processor time of all processes, again, ms', String(median(again, sumOf)), '<= 1500');
for (const [name, starts] of Object.entries({ 'first time': first, again })) {
  const kinds = new Set(starts.flatMap(({ processorMs }) => [...processorMs.keys()]));
  const parts = [...kinds].map((kind) => `${kind} ${median(starts, ({ processorMs }) => processorMs.get(kind) ?? 0)}`);
  console.log(`  of it ${name}: ${parts.join(', ')}`);
}

async function measureStart(dataDir: string, env: Record<string, string>): Promise<Start> {
  const service = await openService({ ...env, LOG_LEVEL: 'warn' }, dataDir);
  const processorMs = new Map<string, number>();
  const add = (kind: string, us: number) => processorMs.set(kind, (processorMs.get(kind) ?? 0) + us / 1000);
  for (const { pid, kind } of serviceProcesses(service.pid)) {
    add(kind, ownProcessorUs(pid));
    // initdb, on a new data directory, and the checks of the sandbox.
    add(kind === 'parent' ? 'programs that have ended' : kind, reapedProcessorUs(pid));
  }
  await service.stop();
  return { readyMs: service.readyMs, processorMs };
}

function sumOf({ processorMs }: Start): number {
  return processorMs.values().reduce((sum, ms) => sum + ms, 0);
}

function median(starts: Start[], of: (start: Start) => number): number {
  return round(spread(starts.map(of)).p50);
}
