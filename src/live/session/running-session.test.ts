import assert from 'node:assert/strict';
import test from 'node:test';
import { beginSession } from '../../../test/fixtures/begun-session.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { noisySpeech, openStubDecoder } from '../../../test/fixtures/live.ts';
import { openPlace } from '../../../test/fixtures/live-place.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { UNCOUNTED_LIVE } from '../../../test/fixtures/uncounted.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { AudioStorage } from '../../audio/storage/storage.ts';
import type { LiveEngine } from '../../engines/live/live-engine.ts';
import type { Job } from '../../jobs/job.ts';
import { LeaseKeeper } from '../../jobs/work/lease-keeper.ts';
import { openSemaphore } from '../../platform/semaphore.ts';
import { Slices } from '../../platform/slices.ts';
import { LiveJournal } from './journal.ts';
import { type LiveClaim, RunningSession, type SessionUser } from './running-session.ts';
import { takeOverSession } from './take-over.ts';

const WAV_HEADER_BYTES = 44;

test('sessions that end at once end two at a time, and the storage knows how much audio each has', async () => {
  await using fixture = await openJobFixture({ AUDIO_RETENTION_HOURS: '24', MAX_LIVE_SESSIONS_PER_ACCOUNT: '20' });
  const account = await fixture.account();
  let storing = 0;
  let mostStoring = 0;
  const limits = new Set<number>();
  const receive: AudioStorage['receive'] = async (bytes, { maxBytes }) => {
    storing += 1;
    mostStoring = Math.max(mostStoring, storing);
    await until('a second one', () => mostStoring >= 2);
    limits.add(maxBytes);
    const received = await fixture.storage.receive(bytes, { maxBytes });
    storing -= 1;
    return received;
  };
  const parts = { ...fixture, ...UNCOUNTED_LIVE };
  const leases = new LeaseKeeper<LiveClaim>(fixture, async (claims) => claims.map(({ id }) => id));
  const storage = { ...fixture.storage, receive };
  const runtime = {
    ...parts,
    storage,
    leases,
    ends: openSemaphore(2),
    slices: new Slices(),
    journal: new LiveJournal(fixture),
  };
  const engine = { name: 'stub', open: () => openStubDecoder() } as Partial<LiveEngine> as LiveEngine;
  const audio = Buffer.from(noisySpeech(randomFrom(5), 2));
  const ended: Job[] = [];
  const nothing = () => undefined;
  const user: SessionUser = { ended: (job) => void ended.push(job), lost: nothing, pause: nothing, resume: nothing };
  const ids = [];
  for (let at = 0; at < 6; at++) ids.push(await beginSession(fixture, account));
  await Promise.all(
    ids.map(async (id) => {
      const key = { shard: account.shard, accountId: account.id, id };
      const taken = { ...(await takeOverSession(fixture.db, key, 'node_test/http'))!, place: openPlace(engine) };
      const session = new RunningSession(runtime, taken, user);
      session.write(audio);
      await session.finish();
    }),
  );
  await leases.close();

  assert.equal(mostStoring, 2);
  assert.deepEqual(
    ended.map(({ state, sizeBytes }) => [state, sizeBytes]),
    ids.map(() => ['completed', WAV_HEADER_BYTES + audio.length]),
  );
  assert.deepEqual([...limits], [WAV_HEADER_BYTES + audio.length]);
});
