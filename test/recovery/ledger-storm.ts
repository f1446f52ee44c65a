// Jobs by the hundred, with failures, cancels, erasures, audio that is longer than it claims, balances that run out, and
// transcribers that are killed: `node test/recovery/ledger-storm.ts 1000` runs a storm of that size; a test runs a small one.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Account } from '../../src/accounts/account.ts';
import { startEmbedded } from '../../src/db/embedded/server.ts';
import { ApiError } from '../../src/http/api-error.ts';
import { NO_IDEMPOTENCY_KEY } from '../../src/http/route.ts';
import { createJob } from '../../src/jobs/api/create.ts';
import { makeId } from '../../src/platform/clock.ts';
import { openLog } from '../../src/platform/log.ts';
import { wavFile } from '../fixtures/audio/wav.ts';
import { countDriftedAccounts } from '../fixtures/database/drifted-accounts.ts';
import { openJobFixture } from '../fixtures/job.ts';
import type { Random } from '../fixtures/random.ts';
import { randomFrom } from '../fixtures/random.ts';

type Fixture = Awaited<ReturnType<typeof openJobFixture>>;

export type StormReport = {
  completed: number;
  failed: number;
  canceled: number;
  erased: number;
  refused: number;
  /** Canceled or failed, and charged for the text that could be read. */
  paidInPart: number;
  kills: number;
};

const WORKER = fileURLToPath(new URL('ledger-storm-worker.ts', import.meta.url));
const REQUEST = { plan: 'pro', language: null, wordTimes: false, metadata: null, isAsync: true } as const;
/** How long the jobs last, and claim to: less, as much, more; in one piece and in several, whose text can be read. */
const RECORDINGS = [
  { seconds: 0.1, claimMs: 300 },
  { seconds: 0.1, claimMs: 100 },
  { seconds: 0.1, claimMs: 20 },
  { seconds: 65, claimMs: 65_000 },
  { seconds: 65, claimMs: 20 },
];
const MEAN_SECONDS = 26;
const RATE = 2;
const CREATORS = 8;
const CANCELS = 0.15;
const ERASURES = 0.1;
const UNITS_PER_CREDIT = 60_000_000;

/** Lets the storm pass, and asserts that not a unit was lost or made, during it and after. */
export async function runLedgerStorm({ jobs, seed, killEveryMs }: { jobs: number; seed: number; killEveryMs: number }) {
  await using fixture = await openJobFixture();
  const random = randomFrom(seed);
  const report: StormReport = { completed: 0, failed: 0, canceled: 0, erased: 0, refused: 0, paidInPart: 0, kills: 0 };
  // Each account can pay for a part of its jobs, so that some are refused and some end without cover.
  const credits = ((jobs / 5) * 0.15 * RATE * MEAN_SECONDS) / 60;
  const accounts = await Promise.all(Array.from({ length: 5 }, () => fixture.account({ credits })));
  const over = new AbortController();
  const weather = [killWorkers(fixture, random, killEveryMs, report, over.signal), watchLedger(fixture, over.signal)];

  await createAll(fixture, accounts, random, jobs, report);
  await untilAllEnded(fixture, over.signal);
  over.abort();
  await Promise.all(weather);
  await assertSettled(fixture, accounts, Math.round(credits * UNITS_PER_CREDIT), report);
  assert.equal(report.completed + report.failed + report.canceled + report.erased + report.refused, jobs);
  return report;
}

async function createAll(fixture: Fixture, accounts: Account[], random: Random, jobs: number, report: StormReport) {
  let left = jobs;
  const create = async () => {
    while (left-- > 0) await oneJob(fixture, random.pick(accounts), random, report);
  };
  await Promise.all(Array.from({ length: CREATORS }, create));
}

/** A job, and what its client does to it later. */
async function oneJob(fixture: Fixture, account: Account, random: Random, report: StormReport): Promise<void> {
  const [{ seconds, claimMs }, fate, patienceMs] = [random.pick(RECORDINGS), random.next(), random.integer(1_000)];
  const { key, sizeBytes } = await fixture.storage.receive(bytesOf(wavFile(seconds)), { maxBytes: 1e7 });
  const audio = { key, sizeBytes, filename: null, format: 'wav', durationMs: claimMs };
  const id = makeId('job');
  try {
    await createJob(fixture, { id, account, request: REQUEST, audio, rate: RATE, idempotency: NO_IDEMPOTENCY_KEY });
  } catch (error) {
    assert.ok(error instanceof ApiError && error.type === 'insufficient_balance', String(error));
    report.refused++;
    return;
  }
  await delay(patienceMs);
  if (fate < CANCELS) await fixture.cancel(account, id);
  else if (fate < CANCELS + ERASURES) {
    const { status } = await fixture.erase(account, id);
    if (status === 204) report.erased++;
  }
}

/** A transcriber that lives for a while at a time; what it held is due at once, as if its lease had run out. */
async function killWorkers(
  fixture: Fixture,
  random: Random,
  everyMs: number,
  report: StormReport,
  signal: AbortSignal,
) {
  while (!signal.aborted) {
    const worker = await startWorker(fixture, random);
    await delay(everyMs / 2 + random.integer(everyMs), undefined, { signal }).catch(() => undefined);
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    report.kills++;
    await fixture.db.run({
      text: `update jobs set next_at = clock_timestamp() where state = 'processing' and next_at > clock_timestamp()`,
    });
  }
}

async function startWorker(fixture: Fixture, random: Random): Promise<ChildProcess> {
  const worker = spawn(process.execPath, [WORKER, fixture.db.url, fixture.folder, String(random.integer(1e9))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(worker.stdout!, 'data');
  return worker;
}

/** At every instant the balances are the sums of their ledgers, and nothing is overdrawn. */
async function watchLedger(fixture: Fixture, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    assert.equal(await countDriftedAccounts(fixture.db), 0, 'a balance differs from its ledger');
    const overdrawn = await fixture.db.rows({ text: 'select id from accounts where amount < 0 or held < 0' });
    assert.deepEqual(overdrawn, []);
    await delay(50, undefined, { signal }).catch(() => undefined);
  }
}

async function untilAllEnded(fixture: Fixture, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const open = await fixture.db.rows({ text: 'select 1 from jobs where completed_at is null limit 1' });
    if (open.length === 0) return;
    await delay(50);
  }
}

async function assertSettled(fixture: Fixture, accounts: Account[], units: number, report: StormReport): Promise<void> {
  const unsettled = await fixture.db.rows({
    text: `select job_id, string_agg(kind, ' ' order by id) as kinds, sum(held_change) as held from ledger where job_id is not null
      group by job_id having sum(held_change) <> 0 or count(*) filter (where kind <> 'hold') <> 1`,
  });
  assert.deepEqual(unsettled, [], 'what is held for a job is settled once, all of it');
  const spent = await fixture.db.rows<{ id: string; amount: number; held: number; spent: number }>({
    text: `select id, amount, held, (
        select coalesce(-sum(amount_change), 0)::bigint from ledger
        where account_id = accounts.id and job_id is not null) as spent
      from accounts`,
  });
  for (const account of spent) assert.deepEqual([account.held, account.amount + account.spent], [0, units]);
  assert.equal(spent.length, accounts.length);
  await assertJobsMatchLedger(fixture, report);
}

/** What a job shows as its cost is what was taken; who ended has one event, who was canceled none. */
async function assertJobsMatchLedger(fixture: Fixture, report: StormReport): Promise<void> {
  const jobs = await fixture.db.rows<{
    state: 'completed' | 'failed' | 'canceled';
    cost: number;
    taken: number;
    events: number;
    errorType: string | null;
  }>({
    text: `select state, cost_units as cost, error_type as "errorType",
        (select -sum(amount_change)::bigint from ledger where job_id = jobs.id) as taken,
        (select count(*) from events where job_id = jobs.id) as events
      from jobs`,
  });
  for (const { state, cost, taken, events, errorType } of jobs) {
    report[state]++;
    assert.deepEqual([cost, events], [taken, state === 'canceled' ? 0 : 1]);
    if (state === 'failed' && errorType === 'engine_error') assert.equal(cost, 0);
    if (state !== 'completed' && cost > 0) report.paidInPart++;
  }
}

async function* bytesOf(bytes: Buffer) {
  yield bytes;
}

if (import.meta.main) {
  const [jobs = '1000', seed = '1'] = process.argv.slice(2);
  const home = mkdtempSync(path.join(os.tmpdir(), 'ledger-storm-'));
  const settings = { fsync: 'off', max_connections: '200' };
  const server = await startEmbedded({
    dir: path.join(home, 'database'),
    log: openLog('warn'),
    settings,
    mayCreateDatabases: true,
  });
  process.env['TEST_DATABASE_URL'] = server.url;
  try {
    console.log(await runLedgerStorm({ jobs: Number(jobs), seed: Number(seed), killEveryMs: 3_000 }));
  } finally {
    await server.stop();
    rmSync(home, { recursive: true });
  }
}
