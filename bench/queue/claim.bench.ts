// Time to claim jobs beside very many waiting ones, compared with few, on two databases in turn.
//   npm run bench claim -- [--jobs 1000000] [--accounts 5000]
import { rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/schema/migrate.ts';
import { claimNextJobs } from '../../src/jobs/queue/claim.ts';
import { temporaryFolder } from '../../test/fixtures/service.ts';
import { startDatabase } from '../database.ts';
import { report, round, spread } from '../figures.ts';

const { values } = parseArgs({
  options: { jobs: { type: 'string', default: '1000000' }, accounts: { type: 'string', default: '5000' } },
});
const FEW_ACCOUNTS = 20;
const JOBS_EACH = 400;
const ROUNDS = 100;
const PLACES = [1, 4, 16];

type Environment = Awaited<ReturnType<typeof openEnvironment>>;

const folder = temporaryFolder();
const many = await openEnvironment('many', [
  { accounts: 1, jobsEach: Number(values.jobs) },
  { accounts: Number(values.accounts), jobsEach: 10 },
]);
const few = await openEnvironment('few', []);
for (const places of PLACES) {
  const times = new Map<Environment, number[]>([many, few].map((environment) => [environment, []]));
  for (let turn = -1; turn < ROUNDS; turn++) {
    for (const [environment, ms] of times) {
      const took = await environment.claim(places);
      // The first turn plans the statements.
      if (turn >= 0) ms.push(took);
    }
  }
  const [full, empty] = [many, few].map((environment) => spread(times.get(environment)!).p50) as [number, number];
  const queue = `${values.jobs} of one account, ${values.accounts} accounts`;
  report(
    `claim for ${places} free places, ms: ${queue} ÷ few`,
    `${full} ÷ ${empty} = ${round(full / empty)}`,
    '<= 1.1',
  );
}
for (const environment of [many, few]) await environment.close();
rmSync(folder, { recursive: true, force: true });

/** A server with 20 accounts with 400 waiting jobs each, and the jobs of these backlogs beside them. */
async function openEnvironment(name: string, backlogs: { accounts: number; jobsEach: number }[]) {
  const settings = { max_wal_size: '4GB' };
  const server = await startDatabase({ dir: path.join(folder, name), settings });
  const db = openDatabase(server.url, { maxConnections: 1 });
  await migrate(db);
  // A plain connection: filling and vacuuming take longer than a statement of the service may.
  const filler = new pg.Client({ connectionString: server.url });
  await filler.connect();
  const all = [{ accounts: FEW_ACCOUNTS, jobsEach: JOBS_EACH }, ...backlogs];
  for (const [number, { accounts, jobsEach }] of all.entries()) await fill(filler, number, accounts, jobsEach);
  await filler.query('vacuum analyze jobs, job_queues');
  await filler.end();
  return {
    async claim(places: number): Promise<number> {
      const startedAtMs = performance.now();
      const { claimed } = await claimNextJobs({ db, leaseMs: 3_600_000 }, places);
      if (claimed.length !== places) throw new Error(`${claimed.length} jobs were claimed for ${places} places`);
      return performance.now() - startedAtMs;
    },
    async close() {
      await db.close();
      await server.stop();
    },
  };
}

async function fill(filler: pg.Client, backlog: number, accounts: number, jobsEach: number): Promise<void> {
  const queues = `
    select account % 64 as shard, format('acct_%s_%s', $1::int, account) as account_id
    from generate_series(1, $2::int) as account`;
  await filler.query({
    text: `insert into jobs (shard, id, account_id, state, plan, word_times, format, size_bytes, duration_ms, unlimited,
        audio_key, next_at, created_at)
      select shard, account_id || '_' || n, account_id, 'queued', 'pro', false, 'wav', 1, 1, true, gen_random_uuid(), now(), now()
      from (${queues}) as queue, generate_series(1, $3::int) as n`,
    values: [backlog, accounts, jobsEach],
  });
  await filler.query({
    text: `insert into job_queues (shard, account_id, waiting) select shard, account_id, $3 from (${queues}) as queue`,
    values: [backlog, accounts, jobsEach],
  });
}
