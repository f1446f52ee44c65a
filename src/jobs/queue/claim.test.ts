import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import type { Database } from '../../db/database.ts';
import { JobClaims } from './claim.ts';

const LEASE_MS = 60_000;

/** A queue with jobs of two accounts in turn, and a worker that claims them one by one at the time `clock.ms`. */
async function openEnvironment({ jobs }: { jobs: number }) {
  const fixture = await openJobFixture();
  const accounts = [await fixture.account({ shard: 1 }), await fixture.account({ shard: 2 })];
  const submit = async (account = accounts[0]!) =>
    (await fixture.transcribe(account, wavFile(0.1), { async: 'true' })).json.id as string;
  const ids: string[] = [];
  for (let i = 0; i < jobs; i++) ids.push(await submit(accounts[i % 2]));
  const clock = { ms: 1_000 };
  const count = { reads: 0 };
  let actBeforeClaim: () => Promise<void> = async () => undefined;
  const rows: Database['rows'] = async (statement) => {
    if (statement.name?.startsWith('read_queue_head')) count.reads += 1;
    if (statement.name === 'claim_jobs') await actBeforeClaim();
    return await fixture.db.rows(statement);
  };
  /** Once. */
  const beforeClaim = (act: () => Promise<void>) => {
    actBeforeClaim = async () => {
      actBeforeClaim = async () => undefined;
      await act();
    };
  };
  const claims = new JobClaims({
    db: { ...fixture.db, rows },
    clock: { now: () => clock.ms, sleep: fixture.clock.sleep },
    leaseMs: LEASE_MS,
  });
  const claimOne = async () => {
    const { jobs: claimed, isDrained } = await claims.claim(1);
    return { id: claimed[0]?.id, isDrained, reads: count.reads };
  };
  const announce = (id: string) => claims.jobDue({ shard: 1, id });
  return Object.assign(fixture, { ids, submit, clock, claims, claimOne, beforeClaim, announce });
}

test('jobs that are claimed one by one start in turn, and one read of the queue serves 32 of them', async () => {
  await using environment = await openEnvironment({ jobs: 33 });
  const claimed = [];
  for (let i = 0; i < 34; i++) claimed.push(await environment.claimOne());

  assert.deepEqual(
    claimed.map(({ id }) => id),
    [...environment.ids, undefined],
  );
  assert.deepEqual(
    claimed.map(({ reads }) => reads),
    [...Array(32).fill(1), 2, 3],
  );
  assert.deepEqual(
    claimed.map(({ isDrained }) => isDrained),
    [...Array(32).fill(false), true, true],
  );
});

test('a job that returned to the queue is claimed next, once the queue was read 50 ms ago', async () => {
  await using environment = await openEnvironment({ jobs: 4 });
  const { ids, clock, claimOne } = environment;
  await claimNextJob(environment.db, LEASE_MS);
  await claimOne();
  await environment.endLeases();
  clock.ms += 49;

  const before = await claimOne();
  clock.ms += 1;
  const after = await claimOne();

  assert.deepEqual([before.id, after.id], [ids[2], ids[0]]);
});

test('a job that another worker claimed is left to it, and the queue is read for each claim for 10 s', async () => {
  await using environment = await openEnvironment({ jobs: 6 });
  const { ids, clock, claimOne } = environment;
  await claimOne();
  await claimNextJob(environment.db, LEASE_MS);

  const lost = await claimOne();
  const rest = [await claimOne(), await claimOne()];
  clock.ms += 10_000;
  const last = [await claimOne(), await claimOne()];

  assert.deepEqual(lost, { id: undefined, isDrained: false, reads: 1 });
  assert.deepEqual(
    [...rest, ...last].map(({ id, reads }) => [id, reads]),
    [
      [ids[2], 2],
      [ids[3], 3],
      [ids[4], 4],
      [ids[5], 4],
    ],
  );
});

test('the transcribers are notified of the first waiting job of an account, and the claim that starts it of the others', async () => {
  await using environment = await openEnvironment({ jobs: 0 });
  const { submit, claimOne } = environment;
  const notified = openCounter();
  const stop = await environment.db.listen('jobs_due', notified.count);
  const first = await submit();
  await notified.reaches(2);
  const ids = [await submit(), await submit()];
  const claims = [await claimOne(), await claimOne(), await claimOne()];
  const last = await submit();
  await notified.reaches(3);
  await stop();

  assert.deepEqual(
    [...claims, await claimOne()].map(({ id }) => id),
    [first, ...ids, last],
  );
  assert.equal(notified.total(), 3);
});

test('once the queue was drained, a job that is announced is claimed without a read, for 2 s', async () => {
  await using environment = await openEnvironment({ jobs: 1 });
  const { submit, clock, claimOne, announce } = environment;
  const drained = await claimOne();
  clock.ms += 1_999;
  const first = await submit();
  announce(first);

  const claimed = await claimOne();
  clock.ms += 1;
  const second = await submit();
  announce(second);
  const read = await claimOne();

  assert.deepEqual([drained.isDrained, drained.reads], [true, 1]);
  assert.deepEqual(claimed, { id: first, isDrained: true, reads: 1 });
  assert.deepEqual(read, { id: second, isDrained: true, reads: 2 });
});

test('more announced jobs than free places, or an announcement of any jobs, are claimed after a read', async () => {
  await using environment = await openEnvironment({ jobs: 1 });
  const { submit, claims, claimOne, announce } = environment;
  await claimOne();
  const ids = [await submit(), await submit(), await submit()];
  for (const id of ids.slice(0, 2)) announce(id);
  const oneOfTwo = await claimOne();
  const second = await claimOne();
  announce(ids[2]!);
  claims.jobDue(null);
  environment.clock.ms += 100;
  const last = await claimOne();

  assert.deepEqual(oneOfTwo, { id: ids[0], isDrained: false, reads: 2 });
  assert.equal(second.id, ids[1]);
  assert.deepEqual(last, { id: ids[2], isDrained: true, reads: 3 });
});

test('an announced job that another worker claimed is left to it, and the queue is read', async () => {
  await using environment = await openEnvironment({ jobs: 1 });
  const { submit, claimOne, announce } = environment;
  await claimOne();
  announce(await submit());
  await claimNextJob(environment.db, LEASE_MS);
  const next = await submit();

  const lost = await claimOne();

  assert.deepEqual(lost, { id: undefined, isDrained: false, reads: 1 });
  assert.deepEqual(await claimOne(), { id: next, isDrained: false, reads: 2 });
});

test('a queue is not drained while the account of a claimed job has another that came after the read', async () => {
  await using environment = await openEnvironment({ jobs: 1 });
  const { ids, submit, claimOne, beforeClaim } = environment;
  let second = '';
  beforeClaim(async () => {
    second = await submit();
  });

  const claims = [await claimOne(), await claimOne()];

  assert.deepEqual(claims, [
    { id: ids[0], isDrained: false, reads: 1 },
    { id: second, isDrained: true, reads: 2 },
  ]);
});

/** Counts calls. LISTEN makes the first one. */
function openCounter() {
  let total = 0;
  let waiting: { least: number; resolve: () => void } = { least: 0, resolve: () => undefined };
  return {
    count() {
      total += 1;
      if (total >= waiting.least) waiting.resolve();
    },
    total: () => total,
    async reaches(least: number) {
      await new Promise<void>((resolve) => {
        waiting = { least, resolve };
        if (total >= least) resolve();
      });
    },
  };
}
