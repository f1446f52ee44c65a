import assert from 'node:assert/strict';
import test from 'node:test';
import { openJobFixture } from '../../test/fixtures/job.ts';
import { readJobRequest } from '../jobs/api/request.ts';
import { sweepLiveSessions } from '../jobs/live/sweep-live.ts';
import { makeId } from '../platform/clock.ts';
import { LiveHost } from './live-host.ts';

test('a session that nobody connects to holds a minute, and is canceled without a trace or a charge', async () => {
  await using fixture = await openJobFixture();
  const { db } = fixture;
  const account = await fixture.account({ plan: 'lite', credits: 3 });
  const host = new LiveHost(fixture as unknown as ConstructorParameters<typeof LiveHost>[0]);
  const request = readJobRequest({ fields: new Map(), lists: new Map() }, account.plan);
  const options = { encoding: 'pcm_s16le', sampleRate: 16_000, partials: true, endpointingMs: 600 } as const;
  const session = { ...options, maxSegmentSeconds: 20, resumeSeconds: 60, idleSeconds: 300 };
  const id = makeId('job', fixture.clock);
  await db.transaction((tx) =>
    host.create(tx, id, { account, keyId: null, request, options: session, tokenHash: Buffer.alloc(32) }),
  );
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
