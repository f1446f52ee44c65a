import assert from 'node:assert/strict';
import test from 'node:test';
import { beginSession, openHost } from '../../test/fixtures/begun-session.ts';
import { openJobFixture } from '../../test/fixtures/job.ts';
import type { Database } from '../db/database.ts';
import { sweepLiveSessions } from '../jobs/live/sweep-live.ts';

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
