import assert from 'node:assert/strict';
import test from 'node:test';
import { beginSession, openHost } from '../../test/fixtures/begun-session.ts';
import { insertTestKey } from '../../test/fixtures/caller.ts';
import { openJobFixture } from '../../test/fixtures/job.ts';
import { noisySpeech, openStubDecoder } from '../../test/fixtures/live.ts';
import { openPlace } from '../../test/fixtures/live-place.ts';
import { openManualClock } from '../../test/fixtures/manual-clock.ts';
import { randomFrom } from '../../test/fixtures/random.ts';
import { UNCOUNTED_LIVE } from '../../test/fixtures/uncounted.ts';
import { until } from '../../test/fixtures/until.ts';
import type { Database } from '../db/database.ts';
import { PassCursor } from '../db/statements/row-pass.ts';
import { EngineError } from '../engines/engine.ts';
import type { LiveEngine } from '../engines/live/live-engine.ts';
import type { IdleSession } from '../jobs/live/live-store.ts';
import { LeaseKeeper } from '../jobs/work/lease-keeper.ts';
import type { Clock } from '../platform/clock.ts';
import { openSemaphore } from '../platform/semaphore.ts';
import { Slices } from '../platform/slices.ts';
import type { LiveEngines } from './live-engines.ts';
import { type HostedUser, LiveHost } from './live-host.ts';
import { sweepLiveSessions } from './session/end-live.ts';
import { LiveJournal } from './session/journal.ts';
import type { LiveClaim } from './session/running-session.ts';

test('a session that nobody connects to holds a minute, and is canceled without a trace or a charge', async () => {
  await using fixture = await openJobFixture();
  const { db } = fixture;
  const account = await fixture.account({ plan: 'lite', credits: 3 });
  const id = await beginSession(fixture, account);
  const held = await heldUnits();
  const early = await sweepLiveSessions(fixture);

  await db.run({ text: 'update jobs set next_at = clock_timestamp()' });
  const swept = [await sweepLiveSessions(fixture), await sweepLiveSessions(fixture), await sweepLiveSessions(fixture)];

  const { status, cost } = await fixture.job(account, id);
  assert.ok(held > 0);
  assert.deepEqual([early, swept], [0, [1, 1, 0]]);
  assert.deepEqual([status, cost, await heldUnits()], ['canceled', 0, 0]);

  async function heldUnits(): Promise<number> {
    const [row] = await db.rows<{ held: number }>({ text: 'select held from accounts' });
    return row!.held;
  }
});

test('sessions that can never be canceled keep no other from its turn', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ plan: 'lite', credits: 3 });
  const ids = [await beginSession(fixture, account), await beginSession(fixture, account)];
  await fixture.db.run({ text: 'update jobs set next_at = clock_timestamp()' });
  const first = ids.toSorted()[0]!;
  const transaction: Database['transaction'] = (work) =>
    fixture.db.transaction(async (tx) => {
      const result = await work(tx);
      const [row] = await tx.rows<{ state: string }>({ text: 'select state from jobs where id = $1', values: [first] });
      if (row!.state === 'canceled') throw new Error('cannot be canceled');
      return result;
    });
  const runtime = { ...fixture, db: { ...fixture.db, transaction } };
  const cursor = new PassCursor<IdleSession>(1);

  await assert.rejects(sweepLiveSessions(runtime, cursor), /cannot be canceled/);
  await sweepLiveSessions(runtime, cursor);

  const jobs = await Promise.all(ids.toSorted().map((id) => fixture.job(account, id)));
  assert.deepEqual(
    jobs.map(({ status }) => status),
    ['queued', 'canceled'],
  );
});

test('a session whose cancellation fails does not keep others from being canceled in the same pass', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ plan: 'lite', credits: 3 });
  const ids = [await beginSession(fixture, account), await beginSession(fixture, account)];
  await fixture.db.run({ text: 'update jobs set next_at = clock_timestamp()' });
  const jobMetrics = {
    jobEnded: () => {
      throw new Error('cannot be counted');
    },
  };

  await assert.rejects(sweepLiveSessions({ ...fixture, jobMetrics }), /2 rows failed/);

  const jobs = await Promise.all(ids.map((id) => fixture.job(account, id)));
  assert.deepEqual(
    jobs.map(({ status }) => status),
    ['canceled', 'canceled'],
  );
});

test('sessions of an account begin one after another, and take one connection to the database', async () => {
  await using fixture = await openJobFixture({ MAX_LIVE_SESSIONS_PER_ACCOUNT: '20' });
  const account = await fixture.account();
  let open = 0;
  let mostOpen = 0;
  const transaction: Database['transaction'] = async (work) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    const result = await fixture.db.transaction(work);
    open -= 1;
    return result;
  };
  const host = openHost({ ...fixture, db: { ...fixture.db, transaction } });
  await Promise.all(Array.from({ length: 5 }, () => beginSession(fixture, account, host)));

  assert.equal(mostOpen, 1);
});

/** A host with a place for each session, and what its sessions run on. */
async function openRunningHost(engine: Partial<LiveEngine>, clock?: Clock) {
  const fixture = await openJobFixture();
  const account = await fixture.account();
  await insertTestKey(fixture.db, account);
  const parts = { ...fixture, ...UNCOUNTED_LIVE };
  const shared = { ends: openSemaphore(1), slices: new Slices(), holder: 'node_test/http' };
  const runtime = { ...parts, ...(clock && { clock }), ...shared };
  const leases = new LeaseKeeper<LiveClaim>(runtime, async (claims) => claims.map(({ id }) => id));
  const replacing: boolean[] = [];
  const engines = {
    async take(_plan, _owner, isReplacing = false) {
      replacing.push(isReplacing);
      return openPlace(engine as LiveEngine);
    },
    close: async () => void (await engine[Symbol.asyncDispose]?.()),
  } as Partial<LiveEngines> as LiveEngines;
  const host = new LiveHost({ ...runtime, leases, journal: new LiveJournal(runtime), engines });
  const id = await beginSession(fixture, account, host);
  const key = { shard: account.shard, accountId: account.id, id };
  return {
    fixture,
    host,
    replacing,
    take: async () => (await host.take(key, { plan: 'pro', unlimited: false }))!,
    job: () => fixture.job(account, id),
    run: async (user: Partial<HostedUser>) =>
      host.run((await host.take(key, { plan: 'pro', unlimited: false }))!, user as HostedUser),
    async [Symbol.asyncDispose]() {
      await leases.close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

test('a connection needs no place of its own while another takes the session over', async () => {
  await using running = await openRunningHost({ name: 'stub', open: () => openStubDecoder() });

  const first = await running.take();
  const second = await running.take();
  await running.host.abandon(first);
  running.host.run(second, {} as HostedUser).abandon();
  await running.host.abandon(await running.take());

  assert.deepEqual(running.replacing, [false, true, false]);
});

test('a session ends within two seconds of the key that began it', async () => {
  const clock = openManualClock();
  await using running = await openRunningHost({ name: 'stub', open: () => openStubDecoder() }, clock);
  let ends = 0;
  const session = await running.run({ keyEnded: () => void ends++ });
  const afterCheck = async (isExpected: () => boolean) =>
    await until('a check of the keys', async () => {
      await clock.advance(1_000);
      return isExpected();
    });
  await afterCheck(() => clock.now() >= 3_000);
  const whileValid = ends;

  await running.fixture.db.run({ text: 'delete from api_keys' });
  await afterCheck(() => ends > 0);
  session.abandon();

  assert.equal(whileValid, 0);
});

test('a session that finishes while the process stops is left to a transcriber, not ended without its last words', async () => {
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => undefined);
  const decoding = Promise.withResolvers<void>();
  const open = () => ({
    ...openStubDecoder(),
    segment: () => ({
      ...openStubDecoder().segment(null),
      end: () => {
        decoding.resolve();
        return stopped.promise;
      },
    }),
  });
  // As an engine whose process is closed: what it decodes fails.
  const dispose = async () => stopped.reject(new EngineError('engine_error', 'The speech engine was closed.'));
  await using running = await openRunningHost({ name: 'stub', open, [Symbol.asyncDispose]: dispose });
  const failures: object[] = [];
  const session = await running.run({
    pause: () => undefined,
    resume: () => undefined,
    restarting: () => session.leave(),
    segmentFailed: (_cause, segment) => void failures.push(segment),
  });
  session.write(noisySpeech(randomFrom(5), 2));
  const finished = session.finish();
  await decoding.promise;
  await running.host.close();
  await finished;

  const { status } = await running.job();
  const [row] = await running.fixture.db.rows({ text: 'select holder from jobs' });
  assert.deepEqual([status, row, failures], ['processing', { holder: null }, []]);
});
