import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import {
  type Claim,
  findLapsedJobs,
  handBackJob,
  renewLeases,
  returnJobsOf,
  returnLapsedJobs,
  returnWaitingJob,
} from './lease-store.ts';
import { findPieces, keepPieces, savePieces } from './piece-store.ts';

/** A job that a process holds, whose lease has ended. */
async function openEnvironment() {
  const fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.transcribe(account, wavFile(0.1), { async: 'true' });
  const claim = (await claimNextJob(fixture.db, 0, 'node_x/transcriber'))!;
  const stateOf = async () => (await fixture.job(account, claim.id)).status as string;
  return Object.assign(fixture, { account, claim, stateOf });
}

type Environment = Awaited<ReturnType<typeof openEnvironment>>;

/** The rows of the job. */
async function rowsOf({ db, claim }: Environment) {
  const values = [claim.shard, claim.id];
  const jobs = await db.rows({ text: 'select * from jobs where shard = $1 and id = $2', values });
  const pieces = await db.rows({ text: 'select * from job_pieces where shard = $1 and job_id = $2', values });
  return { jobs, pieces };
}

const PIECES = { firstNumber: 0, pieces: ['[]'], progress: 0.5, transcribedUnits: 7 };
const WRITES: Record<string, (environment: Environment, claim: Claim) => Promise<unknown>> = {
  'hands it back': ({ db }, claim) => handBackJob(db, claim, null),
  'lets it wait': ({ db }, claim) => returnWaitingJob(db, claim),
  'renews its lease': ({ db }, claim) =>
    renewLeases(db, [{ ...claim, progress: 0.5 }], { shard: claim.shard, leaseMs: 60_000, now: null }),
  'stores its pieces': ({ db }, claim) => savePieces(db, claim, PIECES),
  'keeps its pieces': ({ db }, claim) => keepPieces(db, claim, ['[]']),
};

/** What a statement says that changed nothing. */
const isNothing = (result: unknown) => !result || (Array.isArray(result) && result.length === 0);

for (const [what, write] of Object.entries(WRITES)) {
  test(`a process whose job another one has claimed no longer ${what}`, async () => {
    await using fixture = await openEnvironment();
    await fixture.endLeases();
    await claimNextJob(fixture.db, 60_000, 'node_y/transcriber');
    const before = await rowsOf(fixture);

    const result = await write(fixture, fixture.claim);

    assert.deepEqual([isNothing(result), await rowsOf(fixture)], [true, before]);
  });

  test(`after the end of a job nobody ${what}`, async () => {
    await using fixture = await openEnvironment();
    await fixture.cancel(fixture.account, fixture.claim.id);
    const before = await rowsOf(fixture);

    const result = await write(fixture, fixture.claim);

    assert.deepEqual([isNothing(result), await rowsOf(fixture)], [true, before]);
  });
}

test('a job that is being ended is not waited for: it counts as held, and is not returned', async () => {
  await using fixture = await openEnvironment();
  const { db, claim } = fixture;
  const { moment } = (await findLapsedJobs(db))[0]!;
  const { shard, id } = claim;

  const meanwhile = await db.transaction(async (tx) => {
    await tx.rows({ text: 'select from jobs where shard = $1 and id = $2 for update', values: [shard, id] });
    const returned = await returnLapsedJobs(db, { shard, ids: [id], moment, validMs: 60_000 });
    return [returned, await renewLeases(db, [claim], { shard, leaseMs: 60_000, now: null })];
  });

  assert.deepEqual(meanwhile, [[], [id]]);
});

test('a job whose lease has not ended is not returned', async () => {
  await using fixture = await openEnvironment();
  const { db, claim } = fixture;
  const { moment } = (await findLapsedJobs(db))[0]!;
  const { shard, id } = claim;
  await renewLeases(db, [claim], { shard, leaseMs: 60_000, now: null });

  const returned = await returnLapsedJobs(db, { shard, ids: [id], moment, validMs: 60_000 });

  assert.deepEqual([await findLapsedJobs(db), returned], [[], []]);
});

test('a live session stays with its lease when its process ends: its client may come back', async () => {
  await using fixture = await openEnvironment();
  await fixture.db.run({ text: 'update jobs set is_live = true' });

  assert.deepEqual(await returnJobsOf(fixture.db, { holders: 'node_x/', freeStarts: 0 }), []);
});

test('the pieces of an earlier attempt are not those of the job', async () => {
  await using fixture = await openEnvironment();
  const { db, claim } = fixture;
  const of = async ({ shard, id, lease }: Claim, firstNumber: number) =>
    await findPieces(db, { shard, id, lease, isLive: false }, { firstNumber, limit: 10 });
  await savePieces(db, claim, { ...PIECES, pieces: ['["a"]', '["b"]'] });
  await fixture.endLeases();
  const later = (await claimNextJob(db, 60_000, 'node_y/transcriber'))!;
  await savePieces(db, later, { ...PIECES, pieces: ['["c"]', '["d"]'], transcribedUnits: 3 });

  const [row] = await db.rows<{ units: number }>({ text: 'select transcribed_units as units from jobs' });

  assert.deepEqual(await of(later, 1), [{ number: 1, segments: '["d"]' }]);
  assert.deepEqual(await of(claim, 0), [
    { number: 0, segments: '["a"]' },
    { number: 1, segments: '["b"]' },
  ]);
  assert.equal(row!.units, 7);
});

test('jobs are not returned when the statement runs later than the read of their leases is valid', async () => {
  await using fixture = await openEnvironment();
  const { shard, id } = fixture.claim;
  const [row] = await fixture.db.rows<{ moment: Date }>({
    text: `select clock_timestamp() - interval '4 s' as moment`,
  });
  const lapsed = { shard, ids: [id], moment: row!.moment };

  const late = await returnLapsedJobs(fixture.db, { ...lapsed, validMs: 3_000 });
  const stateAfterLate = await fixture.stateOf();
  const inTime = await returnLapsedJobs(fixture.db, { ...lapsed, validMs: 60_000 });

  assert.deepEqual([late, stateAfterLate], [[], 'processing']);
  assert.deepEqual([inTime, await fixture.stateOf()], [[id], 'queued']);
});

test('a renewal under a lease that another process has got by now is not held', async () => {
  await using fixture = await openEnvironment();
  const { shard, lease } = fixture.claim;
  const renewal = { shard, leaseMs: 12_000, now: null };

  const lost = await renewLeases(fixture.db, [{ ...fixture.claim, lease: lease - 1 }], renewal);
  const held = await renewLeases(fixture.db, [fixture.claim], renewal);

  assert.deepEqual([lost, held], [[], [fixture.claim.id]]);
});

test('the jobs of an ended process are returned, and those of a process whose name begins the same are not', async () => {
  await using fixture = await openEnvironment();

  const others = await returnJobsOf(fixture.db, { holders: 'node_y/', freeStarts: 0 });
  const own = await returnJobsOf(fixture.db, { holders: 'node_x/', freeStarts: 0 });

  assert.deepEqual([others, own, await fixture.stateOf()], [[], [fixture.claim.id], 'queued']);
});
