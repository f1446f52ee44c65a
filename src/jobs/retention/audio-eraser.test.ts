import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import type { AudioStorage } from '../../audio/storage/storage.ts';
import type { Database } from '../../db/database.ts';
import { AudioEraser } from './audio-eraser.ts';

/** Three ended jobs whose audio is still stored. */
async function openEnvironment() {
  const fixture = await openJobFixture({ AUDIO_RETENTION_HOURS: '1' });
  const account = await fixture.account();
  const worker = await fixture.startWorker(openFakeEngine({ says: 'hi' }));
  for (let count = 0; count < 3; count += 1) await fixture.transcribe(account, wavFile(0.1));
  await worker.stop();
  const withAudio = () =>
    fixture.db.rows<{ shard: number; id: string; audioKey: string }>({
      text: 'select shard, id, audio_key as "audioKey" from jobs where audio_key is not null order by id',
    });
  const statements: (string | undefined)[] = [];
  const db: Database = {
    ...fixture.db,
    run: async (statement) => {
      statements.push(statement.name);
      return await fixture.db.run(statement);
    },
  };
  const openEraser = (storage: AudioStorage = fixture.storage) => new AudioEraser({ ...fixture, db, storage });
  return { fixture, withAudio, statements, openEraser, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

test('the audio of jobs that end together is erased with one statement, at the latest by the close', async () => {
  await using env = await openEnvironment();
  const eraser = env.openEraser();

  for (const job of await env.withAudio()) eraser.add(job);
  await eraser.close();

  assert.deepEqual(await env.fixture.files(), []);
  assert.deepEqual(await env.withAudio(), []);
  assert.deepEqual(env.statements, ['clear_audio_keys']);
});

test('audio that cannot be removed is left to the sweep, and does not keep that of other jobs', async () => {
  await using env = await openEnvironment();
  const [first, stuck, last] = await env.withAudio();
  const eraser = env.openEraser({
    ...env.fixture.storage,
    remove: async (key) => {
      if (key === stuck!.audioKey) throw new Error('cannot be removed');
      await env.fixture.storage.remove(key);
    },
  });

  for (const job of [first!, stuck!, last!]) eraser.add(job);
  await eraser.close();

  assert.deepEqual(await env.withAudio(), [stuck]);
  assert.deepEqual(await env.fixture.files(), [stuck!.audioKey]);
});
