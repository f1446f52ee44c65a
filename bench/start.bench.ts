// How long from the start of the process to /readyz, on a new data directory and on one that was used before.
import { rmSync } from 'node:fs';
import { openService, temporaryFolder } from '../test/fixtures/service.ts';
import { startServiceDatabase } from './database.ts';
import { report, round, spread } from './figures.ts';

const ROUNDS = 5;

const first: number[] = [];
const again: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  await using database = await startServiceDatabase();
  const dataDir = temporaryFolder();
  first.push(await timeStart(dataDir, database.env));
  again.push(await timeStart(dataDir, database.env));
  rmSync(dataDir, { recursive: true });
}
report('start to ready, first time, ms (median of 5)', String(round(spread(first).p50)), '<= 3000');
report('start to ready, again, ms (median of 5)', String(round(spread(again).p50)), '<= 1000');

async function timeStart(dataDir: string, env: Record<string, string>): Promise<number> {
  const service = await openService({ ...env, LOG_LEVEL: 'warn' }, dataDir);
  await service.stop();
  return service.readyMs;
}
