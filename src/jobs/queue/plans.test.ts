import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { countRowsRead } from '../../../test/fixtures/database/rows-read.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { type Database, openDatabase, type Sql } from '../../db/database.ts';
import { plansOnce } from '../../processes/roles/transcriber.ts';
import { endJob } from '../end/end.ts';
import type { ClaimedJob, Outcome } from '../job.ts';
import { clearAudioKeys } from '../retention/audio-store.ts';
import { findEnds } from '../store.ts';
import { findLapsedJobs, handBackJob, renewLeases, returnLapsedJobs } from './lease-store.ts';
import { savePieces } from './piece-store.ts';
import { claimJobs, readQueueHead } from './queue-store.ts';

const OTHERS = 2_000;
const MOST_ROWS = 20;
const VALID_MS = 60_000;
const OUTCOME: Outcome = {
  kind: 'completed',
  model: 'test',
  language: 'en',
  transcript: 'hello',
  segments: '[]',
  speakers: null,
  words: null,
  warnings: [],
  durationMs: 100,
  chargedMs: 100,
};

type Case = (sql: Sql, job: ClaimedJob, moment: Date) => Promise<unknown>;

const CASES: Record<string, Case> = {
  'reading the head of the queue': (sql) => readQueueHead(sql, 2),
  'claiming jobs': (sql, job, moment) =>
    claimJobs(sql, { jobs: [job, job], holder: null, leaseMs: VALID_MS, moment, validMs: VALID_MS }),
  'renewing leases': (sql, job) =>
    renewLeases(sql, [{ ...job, progress: 0.5 }], { shard: job.shard, leaseMs: VALID_MS, now: null }),
  'looking for lapsed leases': (sql) => findLapsedJobs(sql),
  'returning lapsed jobs': (sql, { shard, id }, moment) =>
    returnLapsedJobs(sql, { shard, ids: [id], moment, validMs: VALID_MS }),
  'handing a job back': (sql, job) => handBackJob(sql, job, null),
  'storing pieces': (sql, job) =>
    savePieces(sql, job, { firstNumber: 0, pieces: ['[]'], progress: 0.5, transcribedUnits: 0 }),
  'ending a job': (sql, job) => endJob(runtimeOn(sql as Database), job, OUTCOME),
  'clearing the keys of erased audio': (sql, job) => clearAudioKeys(sql, [job]),
  'looking for ended jobs': (sql, job) => findEnds(sql, [job]),
};

for (const [name, run] of Object.entries(CASES)) {
  test(`${name} reads few rows when the plan was made on a table that was nearly empty`, async () => {
    await using fixture = await openJobFixture();
    const account = await fixture.account();
    await fixture.transcribe(account, wavFile(0.1), { async: 'true' });
    await fixture.transcribe(account, wavFile(0.1), { async: 'true' });
    const job = (await claimNextJob(fixture.db, VALID_MS))!;
    await fixture.db.run({ text: 'vacuum analyze' });
    const transcriber = openDatabase(fixture.db.url, { maxConnections: 1, plansOnce });
    const moment = new Date();
    await run(transcriber, { ...job, id: 'job_none' }, moment);
    await fixture.db.run({
      text: `insert into jobs (shard, id, account_id, state, plan, word_times, transcript, audio_key, lease, created_at, completed_at)
        select shard, 'job_' || n, account_id, 'completed', plan, word_times, '', audio_key || n, 1, created_at, created_at
        from (select * from jobs limit 1) job, generate_series(1, ${OTHERS}) n`,
    });

    const read = await countRowsRead(transcriber, 'jobs', (tx) => run(tx, job, moment));
    await transcriber.close();

    assert.ok(read <= MOST_ROWS, `${read} rows`);
  });
}
