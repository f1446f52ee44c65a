import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SeedReport } from './simulate.ts';

const RUN = fileURLToPath(new URL('run.ts', import.meta.url));

type Totals = { seeds: number; jobs: number; arrivals: number; faults: number };

/** A run without jobs, requests or faults would prove nothing. */
export function assertFaultsHappened({ seeds, jobs, arrivals, faults }: Totals): void {
  assert.ok(jobs > seeds && arrivals > seeds && faults > seeds, JSON.stringify({ seeds, jobs, arrivals, faults }));
}

/** What a run printed: the totals of all seeds, and a line for each. */
export type Result = { code: number; errors: string; totals: Totals; seeds: SeedReport[] };

/** Runs the simulator. @param args  its options */
export async function runSeeds(args: string[]): Promise<Result> {
  const child = spawn(process.execPath, [RUN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const [code] = await once(child, 'close');
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { code, errors, totals: lines.at(-1), seeds: lines.slice(0, -1) };
}
