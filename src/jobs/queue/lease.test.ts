import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import type { Database } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import { openLog } from '../../platform/log.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { openLeases } from './lease.ts';

const LOG = openLog('silent');

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
  await using leases = openLeases({ db: fixture.db, clock: stepped.clock, log: LOG });
  using _lease = leases.hold(fixture.claimed, { progress: () => 0.25, onLost: () => assert.fail('lost') });

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
  await using leases = openLeases({ db: fixture.db, clock: stepped.clock, log: LOG });
  using _lease = leases.hold(fixture.claimed, { progress: () => 0, onLost: lost.resolve });
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
  await using leases = openLeases({ db, clock: stepped.clock, log: LOG });
  using _lease = leases.hold(fixture.claimed, { progress: () => 0, onLost: () => assert.fail('lost') });

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
  await using leases = openLeases({ db: fixture.db, clock: stepped.clock, log: LOG });
  using _locked = leases.hold(fixture.claimed, { progress: () => 0, onLost: () => assert.fail('lost') });
  using _free = leases.hold(other, { progress: () => 0.5, onLost: () => assert.fail('lost') });

  await fixture.db.transaction(async (tx) => {
    await tx.run({ text: 'select from jobs where id = $1 for update', values: [fixture.claimed.id] });
    await stepped.pass();
    await stepped.settled();
  });

  assert.equal((await fixture.job(fixture.account, other.id)).progress, 0.5);
});

test('a worker whose connection is lost while it ends a job ends the job exactly once', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  // The first end loses its connection inside its transaction. Sequences do not roll back, so the second one succeeds.
  await fixture.db.run({ text: 'create sequence cuts' });
  await fixture.db.run({
    text: `create function cut() returns trigger language plpgsql as $$
      begin if nextval('cuts') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if; return new; end $$`,
  });
  await fixture.db.run({ text: 'create trigger cut before insert on events for each row execute function cut()' });
  const engine = openFakeEngine({ says: 'whole' });
  await fixture.startWorker(engine);

  const { json } = await fixture.transcribe(account, wavFile(0.1));

  assert.deepEqual([json.status, json.text, engine.count()], ['completed', 'whole', 1]);
  assert.equal((await fixture.db.rows({ text: 'select 1 from events' })).length, 1);
});

test('the log of a job contains ids, durations and the outcome, never text or metadata', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const lines: Record<string, unknown>[] = [];
  const log = openLog('silent');
  const keep = (line: Record<string, unknown>) => void lines.push(line);
  Object.assign(log, { info: keep, warn: keep, error: keep });
  const worker = await fixture.startWorker(openFakeEngine({ says: 'words-in-secret' }), { log });

  const { json } = await fixture.transcribe(account, wavFile(0.1), { metadata: '"meta-in-secret"' });
  await worker.stop();

  const line = lines.find((candidate) => candidate['job_id'] === json.id)!;
  assert.deepEqual([line['state'], line['audio_ms'], line['attempt']], ['completed', 100, 1]);
  assert.ok(!JSON.stringify(lines).includes('in-secret'));
});
