import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import type { Database } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import { openLog } from '../../platform/log.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import type { HeldJob } from '../execution/execute.ts';
import { renewLeases } from '../queue/lease-store.ts';
import { LeaseKeeper } from './lease-keeper.ts';

const _LOG = openLog('silent');
const fail = () => assert.fail('lost');

/** A clock whose sleeps the test ends. */
function openSteppedClock() {
  const sleeps: { ms: number; wake: () => void }[] = [];
  const asleep: (() => void)[] = [];
  const clock: Clock = {
    now: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        signal?.addEventListener('abort', () => resolve());
        sleeps.push({ ms, wake: resolve });
        asleep.shift()?.();
      }),
  };
  return {
    clock,
    /** Ends the oldest sleep; waits for the next one to begin. Returns how long the ended one was to be. */
    async pass() {
      if (sleeps.length === 0) await new Promise<void>((resolve) => asleep.push(resolve));
      const { ms, wake } = sleeps.shift()!;
      wake();
      return ms;
    },
    async settled() {
      if (sleeps.length === 0) await new Promise<void>((resolve) => asleep.push(resolve));
    },
  };
}

function openKeeper(db: Database, clock: Clock) {
  const keeper = new LeaseKeeper<HeldJob>(runtimeOn(db, { clock }), (jobs, shard) =>
    renewLeases(db, jobs, { shard, leaseMs: BOUNDS.leaseMs, now: null }),
  );
  return Object.assign(keeper, { [Symbol.asyncDispose]: () => keeper.close() });
}

async function openEnvironment() {
  const fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.transcribe(account, wavFile(0.1), { async: 'true' });
  const job = (await claimNextJob(fixture.db, 1_000))!;
  const secondsLeft = async () => {
    const [row] = await fixture.db.rows<{ left: number }>({
      text: 'select extract(epoch from next_at - clock_timestamp())::float8 as left from jobs',
    });
    return row!.left;
  };
  return Object.assign(fixture, { account, claimed: job, secondsLeft });
}

test('a renewal moves the end of the lease and stores the progress', async () => {
  await using fixture = await openEnvironment();
  const stepped = openSteppedClock();
  await using leases = openKeeper(fixture.db, stepped.clock);
  using _lease = leases.hold(() => ({ ...fixture.claimed, progress: 0.25 }), fail);

  const renewedAfterMs = await stepped.pass();
  await stepped.settled();

  assert.ok(BOUNDS.leaseMs >= renewedAfterMs + 9_000, 'a database that stands still for 8 s ends no lease');
  assert.ok((await fixture.secondsLeft()) > 10);
  assert.equal((await fixture.job(fixture.account, fixture.claimed.id)).progress, 0.25);
});

test('a renewal reports that another worker has claimed the job', async () => {
  await using fixture = await openEnvironment();
  const stepped = openSteppedClock();
  const lost = Promise.withResolvers<Error>();
  await using leases = openKeeper(fixture.db, stepped.clock);
  using _lease = leases.hold(() => ({ ...fixture.claimed, progress: 0 }), lost.resolve);
  await fixture.db.run({ text: 'update jobs set lease = lease + 1' });

  await stepped.pass();

  assert.equal((await lost.promise).name, 'LeaseLostError');
});

test('a renewal that fails is retried soon', async () => {
  await using fixture = await openEnvironment();
  const stepped = openSteppedClock();
  const broken = { ...fixture.db, rows: () => Promise.reject(new Error('away')) };
  let isAway = true;
  const db: Database = { ...fixture.db, rows: (statement) => (isAway ? broken.rows() : fixture.db.rows(statement)) };
  await using leases = openKeeper(db, stepped.clock);
  using _lease = leases.hold(() => ({ ...fixture.claimed, progress: 0 }), fail);

  await stepped.pass();
  await stepped.settled();
  isAway = false;
  const triedAfterMs = await stepped.pass();
  await stepped.settled();

  assert.ok(triedAfterMs <= 500);
  assert.ok((await fixture.secondsLeft()) > 10);
});

test('a locked job does not delay the renewal of other leases', async () => {
  await using fixture = await openEnvironment();
  await fixture.transcribe(fixture.account, wavFile(0.1), { async: 'true' });
  const other = (await claimNextJob(fixture.db, 1_000))!;
  const stepped = openSteppedClock();
  await using leases = openKeeper(fixture.db, stepped.clock);
  using _locked = leases.hold(() => ({ ...fixture.claimed, progress: 0 }), fail);
  using _free = leases.hold(() => ({ ...other, progress: 0.5 }), fail);

  await fixture.db.transaction(async (tx) => {
    await tx.run({ text: 'select from jobs where id = $1 for update', values: [fixture.claimed.id] });
    await stepped.pass();
    await stepped.settled();
  });

  assert.equal((await fixture.job(fixture.account, other.id)).progress, 0.5);
});

test('a shard whose renewal fails keeps no other shard from its renewal, and loses nothing', async () => {
  const stepped = openSteppedClock();
  const renewed: number[] = [];
  const runtime = runtimeOn({} as Database, { clock: stepped.clock });
  await using leases = Object.assign(
    new LeaseKeeper<{ shard: number; id: string }>(runtime, async (claims, shard) => {
      if (shard === 1) throw new Error('canceling statement due to statement timeout');
      renewed.push(shard);
      return claims.map(({ id }) => id);
    }),
    { [Symbol.asyncDispose]: () => leases.close() },
  );
  using _failing = leases.hold(() => ({ shard: 1, id: 'a' }), fail);
  using _behind = leases.hold(() => ({ shard: 2, id: 'b' }), fail);

  await stepped.pass();
  const againAfterMs = await stepped.pass();
  await stepped.settled();

  assert.deepEqual([renewed, againAfterMs], [[2, 2], BOUNDS.renewAgainMs]);
});

test('a lease has the length that its claim names', async () => {
  await using fixture = await openEnvironment();
  const claim = { ...fixture.claimed, leaseMs: 60_000 };

  await renewLeases(fixture.db, [claim], { shard: claim.shard, leaseMs: BOUNDS.leaseMs, now: null });

  assert.ok((await fixture.secondsLeft()) > 50);
});

test('a holder learns that its lease is lost when the same job is claimed again by its own process', async () => {
  await using fixture = await openEnvironment();
  await using leases = openKeeper(fixture.db, openSteppedClock().clock);
  const lost: string[] = [];
  using _first = leases.hold(
    () => ({ ...fixture.claimed, progress: 0 }),
    (cause) => lost.push(cause.message),
  );

  using _second = leases.hold(() => ({ ...fixture.claimed, lease: fixture.claimed.lease + 1, progress: 0 }), fail);

  assert.deepEqual(lost, [`the lease of ${fixture.claimed.id} was lost`]);
});
