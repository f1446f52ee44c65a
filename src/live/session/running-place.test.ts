import assert from 'node:assert/strict';
import test from 'node:test';
import { beginSession, openHost } from '../../../test/fixtures/begun-session.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { noisySpeech, openStubDecoder } from '../../../test/fixtures/live.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { UNCOUNTED_LIVE } from '../../../test/fixtures/uncounted.ts';
import type { LiveEngine } from '../../engines/live/live-engine.ts';
import { ApiError } from '../../http/api-error.ts';
import { LeaseKeeper } from '../../jobs/work/lease-keeper.ts';
import { openSemaphore } from '../../platform/semaphore.ts';
import { Slices } from '../../platform/slices.ts';
import { LiveJournal } from './journal.ts';
import { type LiveClaim, RunningSession, type SessionUser } from './running-session.ts';
import { takeOverSession } from './take-over.ts';

const SECOND_BYTES = 32_000;

async function openEnvironment() {
  const fixture = await openJobFixture({ AUDIO_RETENTION_HOURS: '24', MIN_FREE_DISK_BYTES: '1000' });
  const clock = openManualClock();
  const disk = { freeBytes: Number.MAX_SAFE_INTEGER };
  const parts = { ...fixture, ...UNCOUNTED_LIVE };
  const storage = { ...fixture.storage, freeBytes: async () => disk.freeBytes };
  const leases = new LeaseKeeper<LiveClaim>(fixture, async (claims) => claims.map(({ id }) => id));
  const shared = { leases, ends: openSemaphore(1), slices: new Slices(), journal: new LiveJournal(fixture) };
  const runtime = { ...parts, ...shared, clock, storage };
  const account = await fixture.account();
  const host = openHost({ ...fixture, storage });
  const place = { rests: 0, isLeft: true };
  async function run() {
    const id = await beginSession(fixture, account, host);
    const key = { shard: account.shard, accountId: account.id, id };
    const engine = { name: 'stub', open: () => openStubDecoder() } as Partial<LiveEngine> as LiveEngine;
    const ended = Promise.withResolvers<{ audioKey: string | null; state: string }>();
    const stopped: string[] = [];
    const user: SessionUser = {
      pause: () => undefined,
      resume: () => undefined,
      ended: ended.resolve,
      lost: (reason) => void stopped.push(reason),
    };
    const taken = { ...(await takeOverSession(fixture.db, key, 'node_test/http'))! };
    const rest = () => void (place.rests += 1);
    const session = new RunningSession(
      runtime,
      { ...taken, place: { engine, rest, wake: () => place.isLeft, free: () => undefined } },
      user,
    );
    return { session, stopped, ended: ended.promise };
  }
  return {
    clock,
    disk,
    place,
    run,
    begin: () => beginSession(fixture, account, host),
    async [Symbol.asyncDispose]() {
      await leases.close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

test('a place is given up after a minute with less than a second of audio, whatever else the client sends', async () => {
  await using environment = await openEnvironment();
  const { clock, place, run } = environment;
  const { session, stopped } = await run();
  session.write(new Uint8Array(SECOND_BYTES));
  await clock.advance(59_000);
  const before = place.rests;
  session.keepAlive();
  session.write(new Uint8Array(100));
  await clock.advance(1_000);
  const after = place.rests;

  place.isLeft = false;
  session.write(new Uint8Array(SECOND_BYTES));
  session.abandon();

  assert.deepEqual([before, after, stopped], [0, 1, ['away']]);
});

test('while the disk has less than the reserve no session begins, and one that ends has its text and no audio', async () => {
  await using environment = await openEnvironment();
  const { session, ended } = await environment.run();
  session.write(noisySpeech(randomFrom(5), 2));
  environment.disk.freeBytes = 999;
  await assert.rejects(
    environment.begin(),
    (cause) => cause instanceof ApiError && cause.type === 'unavailable' && /disk/.test(cause.message),
  );
  await session.finish();

  const { state, audioKey } = await ended;
  assert.deepEqual([state, audioKey], ['completed', null]);
});
