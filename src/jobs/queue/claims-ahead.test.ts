import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Database } from '../../db/database.ts';
import { openLog } from '../../platform/log.ts';
import { ClaimsAhead } from './claims-ahead.ts';

const LEASE_MS = 60_000;

/** A queue of jobs, and a worker with one place; `wait` lets the time pass for which jobs may be ready. */
async function openEnvironment({ jobs, shortJobs = 0 }: { jobs: number; shortJobs?: number }) {
  const fixture = await openJobFixture();
  const account = await fixture.account();
  const ids: string[] = [];
  for (let i = 0; i < jobs; i++) {
    ids.push((await fixture.transcribe(account, wavFile(0.1), { async: 'true' })).json.id);
  }
  const count = { claims: 0 };
  let isAway = false;
  const rows: Database['rows'] = async (statement) => {
    if (statement.name === 'claim_jobs') count.claims += 1;
    return await fixture.db.rows(statement);
  };
  const run: Database['run'] = async (statement) => {
    if (isAway) throw new Error('away');
    return await fixture.db.run(statement);
  };
  const sleeps: { ms: number; wake: () => void }[] = [];
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      sleeps.push({ ms, wake: resolve });
      signal?.addEventListener('abort', () => resolve());
    });
  const clock = { now: () => 7_000, sleep };
  const db = { ...fixture.db, rows, run };
  const claims = new ClaimsAhead({ db, clock, leaseMs: LEASE_MS, log: openLog('silent') });
  for (let i = 0; i < shortJobs; i++) claims.jobLeft(20);
  const claimOne = async () => (await claims.claim(1)).jobs[0]?.id;
  const states = async () =>
    (await fixture.db.rows<{ state: string }>({ text: 'select state from jobs order by created_at, id' })).map(
      ({ state }) => state,
    );
  const failHandBacks = () => {
    isAway = true;
  };
  return Object.assign(fixture, { ids, count, sleeps, claims, claimOne, states, failHandBacks });
}

test('after eight short jobs, one statement claims a job for the free place and eight that start later in turn', async () => {
  await using environment = await openEnvironment({ jobs: 11, shortJobs: 8 });
  const { ids, claims, claimOne, count, sleeps } = environment;

  const first = await claims.claim(1);
  const ready: (string | undefined)[] = [];
  for (let i = 0; i < 8; i++) ready.push(await claimOne());
  const claimsOfNine = count.claims;
  const rest = [await claimOne(), await claimOne(), await claimOne()];

  assert.deepEqual([first.jobs.map(({ id }) => id), first.claimedAtMs, first.isDrained], [[ids[0]], 7_000, false]);
  assert.deepEqual([...ready, ...rest], [...ids.slice(1), undefined]);
  assert.equal(claimsOfNine, 1);
  assert.deepEqual(
    sleeps.map(({ ms }) => ms),
    [100, 100],
  );
});

test('a place that a job occupied for longer than 20 ms ends the claims ahead', async () => {
  await using environment = await openEnvironment({ jobs: 3, shortJobs: 8 });
  const { claims, states } = environment;
  claims.jobLeft(21);
  for (let i = 0; i < 7; i++) claims.jobLeft(1);

  await claims.claim(1);

  assert.deepEqual(await states(), ['processing', 'queued', 'queued']);
});

test('jobs that are ready for 100 ms go back to the queue, their attempts uncounted, and the next claims are not ahead', async () => {
  await using environment = await openEnvironment({ jobs: 4, shortJobs: 8 });
  const { ids, claims, claimOne, sleeps, states } = environment;
  await claimOne();
  await claimOne();

  sleeps[0]!.wake();
  const returned = await until('the jobs are back', async () => {
    const now = await states();
    return now.filter((state) => state === 'queued').length === 2 && now;
  });
  const next = await claims.claim(1);

  assert.deepEqual(returned, ['processing', 'processing', 'queued', 'queued']);
  assert.deepEqual(
    next.jobs.map(({ id, attempts, lease }) => [id, attempts, lease]),
    [[ids[2], 1, 2]],
  );
  assert.deepEqual((await states())[3], 'queued');
});

test('a job that cannot be handed back does not hinder the others, and starts when its lease ends', async () => {
  await using environment = await openEnvironment({ jobs: 2, shortJobs: 8 });
  const { ids, claims, claimOne, failHandBacks, states } = environment;
  await claimOne();
  failHandBacks();

  await claims.close();
  const held = await states();
  await environment.endLeases();

  assert.deepEqual(held, ['processing', 'processing']);
  assert.deepEqual([(await claimNextJob(environment.db, LEASE_MS))?.id], [ids[0]]);
});

test('a worker that stops hands back the jobs that have not started', async () => {
  await using environment = await openEnvironment({ jobs: 3, shortJobs: 8 });
  const { claims, claimOne, states } = environment;
  await claimOne();

  await claims.close();

  assert.deepEqual(await states(), ['processing', 'queued', 'queued']);
});
