import assert from 'node:assert/strict';
import { utimes } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { openFakeEngine } from '../../../test/fake-engine.ts';
import { openJobRoom } from '../../../test/job-fixture.ts';
import { wavFile } from '../../../test/wav.ts';
import { eraseEndedAudio, sweepOrphans } from './audio-sweep.ts';

type Room = Awaited<ReturnType<typeof openJobRoom>>;

async function* bytes() {
  yield Buffer.from('sound');
}
async function ageAll(room: Room) {
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  for (const name of await room.files()) await utimes(path.join(room.folder, name), longAgo, longAgo);
}

test('files that no job names are removed once they are an hour old, and no others', async () => {
  await using room = await openJobRoom();
  const account = await room.account();
  await room.transcribe(account, wavFile(0.1), { async: 'true' });
  const [ofJob] = await room.files();
  await room.storage.receive(bytes(), { maxBytes: 100 });
  await ageAll(room);
  const { key: young } = await room.storage.receive(bytes(), { maxBytes: 100 });

  const removed = await sweepOrphans(room);

  assert.equal(removed, 1);
  assert.deepEqual(await room.files(), [ofJob!, young].sort());
});

test('audio whose time after the end of its job is over is erased, and no other', async () => {
  await using room = await openJobRoom({ AUDIO_RETENTION_HOURS: '1' });
  const account = await room.account();
  await room.startWorker(openFakeEngine({ says: 'hi' }));
  await room.transcribe(account, wavFile(0.1));

  assert.equal(await eraseEndedAudio(room, 3_600_000), 0);
  assert.equal((await room.files()).length, 1);
  await room.db.run({ text: `update jobs set completed_at = completed_at - interval '1 hour'` });
  assert.equal(await eraseEndedAudio(room, 3_600_000), 1);
  assert.deepEqual(await room.files(), []);
  assert.equal(await eraseEndedAudio(room, 3_600_000), 0);
});

test('the audio of a job that has not ended is kept', async () => {
  await using room = await openJobRoom();
  await room.transcribe(await room.account(), wavFile(0.1), { async: 'true' });

  assert.equal(await eraseEndedAudio(room, 0), 0);
});
