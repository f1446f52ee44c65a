import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Database } from '../../db/database.ts';
import { claimNextJobs } from './claim.ts';
import { renewLeases } from './lease-store.ts';
import { savePieces } from './piece-store.ts';

/** A queue with jobs of two accounts in turn; `beforeClaim` runs between the two statements of each claim. */
async function openEnvironment({ jobs }: { jobs: number }) {
  const fixture = await openJobFixture();
  const accounts = [await fixture.account({ shard: 1 }), await fixture.account({ shard: 2 })];
  const submit = async (account = accounts[0]!) =>
    (await fixture.transcribe(account, wavFile(0.1), { async: 'true' })).json.id as string;
  const ids: string[] = [];
  for (let i = 0; i < jobs; i++) ids.push(await submit(accounts[i % 2]));
  const hooks = { beforeClaim: async (): Promise<unknown> => undefined };
  const rows: Database['rows'] = async (statement) => {
    if (statement.name === 'claim_jobs') await hooks.beforeClaim();
    return await fixture.db.rows(statement);
  };
  const claim = async (places: number) => {
    const { claimed, isDrained } = await claimNextJobs({ db: { ...fixture.db, rows } }, places);
    return { ids: claimed.map(({ id }) => id), isDrained };
  };
  return Object.assign(fixture, { ids, submit, claim, hooks });
}

test('jobs that are claimed one by one start in turn, and the claim that finds none drains the queue', async () => {
  await using environment = await openEnvironment({ jobs: 3 });
  const { claim, ids } = environment;

  const claims = [await claim(1), await claim(1), await claim(1), await claim(1)];

  assert.deepEqual(
    claims,
    [[ids[0]], [ids[1]], [ids[2]], []].map((claimed, at) => ({ ids: claimed, isDrained: at === 3 })),
  );
});

test('a claim for more places than there are jobs drains the queue', async () => {
  await using environment = await openEnvironment({ jobs: 3 });

  assert.deepEqual(await environment.claim(4), { ids: environment.ids, isDrained: true });
});

test('a job that another worker claims after the read is left to it, and the queue is not drained', async () => {
  await using environment = await openEnvironment({ jobs: 2 });
  const { claim, hooks, db, ids } = environment;
  hooks.beforeClaim = () => claimNextJob(db, 60_000);

  const claimed = await claim(4);

  assert.deepEqual(claimed, { ids: [ids[1]], isDrained: false });
});

test('the transcribers are notified of every job that is queued', async () => {
  await using environment = await openEnvironment({ jobs: 1 });
  let notified = 0;
  // The first call is that of LISTEN.
  const stop = await environment.db.listen('jobs_due', () => void (notified += 1));

  await environment.submit();
  await until('a notification beside a waiting job', async () => notified >= 2);
  await stop();
});

test('the progress of a job does not go back when its pieces and its lease are written out of order', async () => {
  await using fixture = await openJobFixture();
  await fixture.transcribe(await fixture.account(), wavFile(0.1), { async: 'true' });
  const { db } = fixture;
  const job = (await claimNextJob(db, 60_000))!;
  const save = (firstNumber: number, progress: number) =>
    savePieces(db, job, { firstNumber, pieces: ['[]'], progress, transcribedUnits: 0 });
  const renew = (progress: number) =>
    renewLeases(db, [{ ...job, progress }], { shard: job.shard, leaseMs: 60_000, now: null });
  const read = async () => (await db.rows<{ progress: number }>({ text: 'select progress from jobs' }))[0]!.progress;
  await renew(0.5);
  await save(0, 0.4);
  const first = await read();
  await save(1, 0.7);
  await renew(0.6);

  assert.deepEqual([first, await read()], [0.5, 0.7]);
});
