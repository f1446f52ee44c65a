import assert from 'node:assert/strict';
import { utimes } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { PassCursor } from '../../db/statements/row-pass.ts';
import { eraseEndedAudio, type JobWithAudio, sweepOrphans } from './audio-sweep.ts';

type Fixture = Awaited<ReturnType<typeof openJobFixture>>;

async function* bytes() {
  yield Buffer.from('sound');
}
async function ageAll(fixture: Fixture) {
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  for (const name of await fixture.files()) await utimes(path.join(fixture.folder, name), longAgo, longAgo);
}

test('only files without a job that are at least an hour old are removed', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.transcribe(account, wavFile(0.1), { async: 'true' });
  const [ofJob] = await fixture.files();
  await fixture.storage.receive(bytes(), { maxBytes: 100 });
  await ageAll(fixture);
  const { key: young } = await fixture.storage.receive(bytes(), { maxBytes: 100 });

  const removed = await sweepOrphans(fixture);

  assert.equal(removed, 1);
  assert.deepEqual(await fixture.files(), [ofJob!, young].sort());
});

test('a file that cannot be removed keeps no other one', async () => {
  await using fixture = await openJobFixture();
  // Of two groups that are removed at once.
  for (let count = 0; count < 60; count += 1) await fixture.storage.receive(bytes(), { maxBytes: 9 });
  await ageAll(fixture);
  let stuck: string | null = null;
  const { remove } = fixture.storage;
  fixture.storage.remove = async (key) => {
    // The first of all.
    stuck ??= key;
    if (key === stuck) throw new Error('not permitted');
    await remove(key);
  };

  await assert.rejects(sweepOrphans(fixture), /not permitted/);

  assert.deepEqual(await fixture.files(), [stuck]);
});

test('audio that can never be removed keeps no other from its turn', async () => {
  await using fixture = await openJobFixture({ AUDIO_RETENTION_HOURS: '1' });
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hi' }));
  for (let count = 0; count < 2; count += 1) await fixture.transcribe(account, wavFile(0.1));
  const stored = await fixture.files();
  let stuck: string | null = null;
  const { remove } = fixture.storage;
  fixture.storage.remove = async (key) => {
    // The first of all.
    stuck ??= key;
    if (key === stuck) throw new Error('not permitted');
    await remove(key);
  };
  const cursor = new PassCursor<JobWithAudio>(1);

  await assert.rejects(eraseEndedAudio(fixture, 0, cursor), /not permitted/);
  await eraseEndedAudio(fixture, 0, cursor);

  assert.equal(stored.length, 2);
  assert.deepEqual(await fixture.files(), [stuck]);
  // From the start again.
  await eraseEndedAudio(fixture, 0, cursor);
  await assert.rejects(eraseEndedAudio(fixture, 0, cursor), /not permitted/);
});

test('audio is erased once the retention time after the end of its job is over', async () => {
  await using fixture = await openJobFixture({ AUDIO_RETENTION_HOURS: '1' });
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hi' }));
  await fixture.transcribe(account, wavFile(0.1));

  assert.equal(await eraseEndedAudio(fixture, 3_600_000), 0);
  assert.equal((await fixture.files()).length, 1);
  await fixture.db.run({ text: `update jobs set completed_at = completed_at - interval '1 hour'` });
  assert.equal(await eraseEndedAudio(fixture, 3_600_000), 1);
  assert.deepEqual(await fixture.files(), []);
  assert.equal(await eraseEndedAudio(fixture, 3_600_000), 0);
});

test('the audio of a job that has not ended is kept', async () => {
  await using fixture = await openJobFixture();
  await fixture.transcribe(await fixture.account(), wavFile(0.1), { async: 'true' });

  assert.equal(await eraseEndedAudio(fixture, 0), 0);
});
