// Hundreds of jobs with failures, cancellations, erasures, audio that is longer than its header claims, balances that
// run out, and transcribers that are killed.
// A test runs few; `node test/recovery/ledger-storm.ts 1000` runs 1,000 jobs.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Account } from '../../src/accounts/account.ts';
import { startEmbedded } from '../../src/db/embedded/server.ts';
import { ApiError } from '../../src/http/api-error.ts';
import { NO_IDEMPOTENCY_KEY } from '../../src/http/route.ts';
import { createJob } from '../../src/jobs/api/create.ts';
import { NOTHING_REQUESTED } from '../../src/jobs/job.ts';
import { makeId } from '../../src/platform/clock.ts';
import { openLog } from '../../src/platform/log.ts';
import { wavFile } from '../fixtures/audio/wav.ts';
import { TEST_KEY_ID } from '../fixtures/caller.ts';
import { countDriftedAccounts } from '../fixtures/database/drifted-accounts.ts';
import { openJobFixture } from '../fixtures/job.ts';
import { type Random, randomFrom } from '../fixtures/random.ts';

type Fixture = Awaited<ReturnType<typeof openJobFixture>>;

export type StormReport = {
  completed: number;
  failed: number;
  canceled: number;
  erased: number;
  refused: number;
  /** Canceled or failed, and charged for the text that the client could read. */
  paidInPart: number;
  kills: number;
};

const WORKER = fileURLToPath(new URL('ledger-storm-worker.ts', import.meta.url));
const REQUEST = { ...NOTHING_REQUESTED, plan: 'pro' } as const;
/** Duration of the audio and the one that its header claims: longer, equal, shorter; in one piece, and in several. */
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
// A client cancels or erases its job after up to so many more pieces of audio were begun. Counted in pieces and not in
// seconds, as the kills are, so that a slow machine meets the same cases.
const MAX_PIECES_BEFORE_CANCEL = 30;
const POLL_MS = 20;
const CANCELS = 0.2;
const ERASURES = 0.1;
const UNITS_PER_CREDIT = 60_000_000;

type Storm = {
  fixture: Fixture;
  random: Random;
  accounts: Account[];
  report: StormReport;
  /** Pieces that the transcribers have begun so far. */
  piecesBegun: number;
};

/**
 * Asserts, during the storm and after it, that the ledger neither loses nor makes a unit.
 * @param killEveryPieces  mean number of pieces of audio that a transcriber begins before it is killed
 */
export async function runLedgerStorm(options: { jobs: number; seed: number; killEveryPieces: number }) {
  const { jobs, seed, killEveryPieces } = options;
  await using fixture = await openJobFixture();
  const random = randomFrom(seed);
  const report: StormReport = { completed: 0, failed: 0, canceled: 0, erased: 0, refused: 0, paidInPart: 0, kills: 0 };
  // Each account can pay for a part of its jobs, so that some are refused and some end without cover.
  const credits = ((jobs / 5) * 0.15 * RATE * MEAN_SECONDS) / 60;
  const accounts = await Promise.all(Array.from({ length: 5 }, () => fixture.account({ credits })));
  const storm: Storm = { fixture, random, accounts, report, piecesBegun: 0 };
  const over = new AbortController();
  const background = [killWorkers(storm, killEveryPieces, over.signal), checkLedger(fixture, over.signal)];

  await createAll(storm, jobs);
  await untilAllEnded(fixture);
  over.abort();
  await Promise.all(background);
  await assertSettled(fixture, accounts, Math.round(credits * UNITS_PER_CREDIT), report);
  assert.equal(report.completed + report.failed + report.canceled + report.erased + report.refused, jobs);
  return report;
}

async function createAll(storm: Storm, jobs: number): Promise<void> {
  let left = jobs;
  const create = async () => {
    while (left-- > 0) await oneJob(storm);
  };
  await Promise.all(Array.from({ length: CREATORS }, create));
}

/** Creates a job; later its client may cancel or erase it. */
async function oneJob(storm: Storm): Promise<void> {
  const { fixture, random, report } = storm;
  const account = random.pick(storm.accounts);
  const { seconds, claimMs } = random.pick(RECORDINGS);
  const fate = random.next();
  const patience = random.integer(MAX_PIECES_BEFORE_CANCEL);
  const { key, sizeBytes } = await fixture.storage.receive(bytesOf(wavFile(seconds)), { maxBytes: 1e7 });
  const audio = {
    kind: 'stored' as const,
    key,
    sizeBytes,
    filename: null,
    format: 'wav',
    durationMs: claimMs,
    tracks: [],
  };
  const id = makeId('job');
  try {
    const order = { id, account, keyId: TEST_KEY_ID, request: REQUEST, audio, rate: RATE };
    await createJob(fixture, { ...order, idempotency: NO_IDEMPOTENCY_KEY });
  } catch (error) {
    assert.ok(error instanceof ApiError && error.type === 'insufficient_balance', String(error));
    report.refused++;
    return;
  }
  await untilPiecesOrEnd(storm, storm.piecesBegun + patience, id);
  if (fate < CANCELS) await fixture.cancel(account, id);
  else if (fate < CANCELS + ERASURES) {
    const { status } = await fixture.erase(account, id);
    if (status === 204) report.erased++;
  }
}

async function untilPiecesOrEnd(storm: Storm, pieces: number, id: string): Promise<void> {
  const running = { text: 'select 1 from jobs where id = $1 and completed_at is null', values: [id] };
  while (storm.piecesBegun < pieces && (await storm.fixture.db.rows(running)).length > 0) await pause(POLL_MS);
}

/**
 * One transcriber at a time, each killed after some pieces; what it held is due at once, as if its lease had expired.
 */
async function killWorkers(storm: Storm, everyPieces: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const worker = await startWorker(storm);
    const last = storm.piecesBegun + 1 + storm.random.integer(2 * everyPieces);
    while (storm.piecesBegun < last && !signal.aborted) await pause(POLL_MS);
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    storm.report.kills++;
    await storm.fixture.db.run({
      text: `update jobs set next_at = clock_timestamp() where state = 'processing' and next_at > clock_timestamp()`,
    });
  }
}

async function startWorker(storm: Storm): Promise<ChildProcess> {
  const { fixture, random } = storm;
  const worker = spawn(process.execPath, [WORKER, fixture.db.url, fixture.folder, String(random.integer(1e9))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(worker.stdout!, 'data');
  worker.stdout!.on('data', (bytes: Buffer) => {
    storm.piecesBegun += bytes.length;
  });
  return worker;
}

/** At all times the balances are the sums of their ledgers, and nothing is overdrawn. */
async function checkLedger(fixture: Fixture, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    assert.equal(await countDriftedAccounts(fixture.db), 0, 'a balance differs from its ledger');
    const overdrawn = await fixture.db.rows({ text: 'select id from accounts where amount < 0 or held < 0' });
    assert.deepEqual(overdrawn, []);
    await pause(50, undefined, { signal }).catch(() => undefined);
  }
}

async function untilAllEnded(fixture: Fixture): Promise<void> {
  while (true) {
    const open = await fixture.db.rows({ text: 'select 1 from jobs where completed_at is null limit 1' });
    if (open.length === 0) return;
    await pause(50);
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
  for (const bucket of ['hour', 'day']) {
    const used = await fixture.db.rows<{ id: string; spent: number }>({
      text: `select account_id as id, sum(cost_units)::bigint as spent from job_usage where bucket = $1 group by account_id`,
      values: [bucket],
    });
    const byAccount = new Map(used.map((row) => [row.id, row.spent]));
    for (const { id, spent: charged } of spent) assert.equal(byAccount.get(id), charged, `usage by ${bucket}`);
  }
  assert.equal(spent.length, accounts.length);
  await assertJobsMatchLedger(fixture, report);
}

/**
 * The cost that a job shows is what its ledger charged. A completed or failed job has one event, a canceled job none.
 */
async function assertJobsMatchLedger(fixture: Fixture, report: StormReport): Promise<void> {
  const jobs = await fixture.db.rows<{
    state: 'completed' | 'failed' | 'canceled';
    cost: number;
    charged: number;
    events: number;
    errorType: string | null;
  }>({
    text: `select state, cost_units as cost, error_type as "errorType",
        (select -sum(amount_change)::bigint from ledger where job_id = jobs.id) as charged,
        (select count(*) from events where job_id = jobs.id) as events
      from jobs`,
  });
  for (const { state, cost, charged, events, errorType } of jobs) {
    report[state]++;
    assert.deepEqual([cost, events], [charged, state === 'canceled' ? 0 : 1]);
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
    console.log(await runLedgerStorm({ jobs: Number(jobs), seed: Number(seed), killEveryPieces: 60 }));
  } finally {
    await server.stop();
    rmSync(home, { recursive: true });
  }
}
