import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { renewLeases, returnJobsOf, returnLapsedJobs } from './lease-store.ts';

/** A job that a process holds, whose lease has ended. */
async function openEnvironment() {
  const fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.transcribe(account, wavFile(0.1), { async: 'true' });
  const claim = (await claimNextJob(fixture.db, 0, 'node_x/transcriber'))!;
  const stateOf = async () => (await fixture.job(account, claim.id)).status as string;
  return Object.assign(fixture, { claim, stateOf });
}

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
