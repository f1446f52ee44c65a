import assert from 'node:assert/strict';
import test from 'node:test';
import { beginSession, openHost } from '../../test/fixtures/begun-session.ts';
import { insertTestKey } from '../../test/fixtures/caller.ts';
import { openJobFixture } from '../../test/fixtures/job.ts';
import { openStubDecoder } from '../../test/fixtures/live.ts';
import { openPlace } from '../../test/fixtures/live-place.ts';
import { openManualClock } from '../../test/fixtures/manual-clock.ts';
import { until } from '../../test/fixtures/until.ts';
import type { Database } from '../db/database.ts';
import type { LiveEngine } from '../engines/live/live-engine.ts';
import { LiveJournal } from '../jobs/live/rows/journal.ts';
import { sweepLiveSessions } from '../jobs/live/sweep-live.ts';
import { LeaseKeeper } from '../jobs/work/lease-keeper.ts';
import { openSemaphore } from '../platform/semaphore.ts';
import { Slices } from '../platform/slices.ts';
import type { LiveEngines } from './live-engines.ts';
import { type HostedUser, LiveHost } from './live-host.ts';
import type { LiveClaim } from './running-session.ts';

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

test('a session ends within two seconds of the key that began it', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await insertTestKey(fixture.db, account);
  const clock = openManualClock();
  const engine = { name: 'stub', open: () => openStubDecoder() } as Partial<LiveEngine> as LiveEngine;
  const { metrics: _, ...parts } = fixture;
  const runtime = { ...parts, clock, ends: openSemaphore(1), slices: new Slices(), holder: 'node_test/http' };
  const leases = new LeaseKeeper<LiveClaim>(runtime, async (claims) => claims.map(({ id }) => id));
  const engines = { take: async () => openPlace(engine), close: async () => undefined } as Partial<LiveEngines>;
  const host = new LiveHost({
    ...runtime,
    leases,
    journal: new LiveJournal(runtime),
    engines: engines as LiveEngines,
  });
  const id = await beginSession(fixture, account, host);
  const key = { shard: account.shard, accountId: account.id, id };
  let ends = 0;
  const user = { keyEnded: () => void ends++ } as Partial<HostedUser> as HostedUser;
  const session = host.run((await host.take(key, { plan: 'pro', unlimited: false }))!, user);
  const afterCheck = async (isExpected: () => boolean) =>
    await until('a check of the keys', async () => {
      await clock.advance(1_000);
      return isExpected();
    });
  await afterCheck(() => clock.now() >= 3_000);
  const whileValid = ends;

  await fixture.db.run({ text: 'delete from api_keys' });
  await afterCheck(() => ends > 0);
  session.abandon();
  await leases.close();

  assert.equal(whileValid, 0);
});
