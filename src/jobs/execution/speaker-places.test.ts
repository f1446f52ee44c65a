import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { FoundSpeakers, SpeakerFinder } from '../../engines/speakers/speakers.ts';

const NOBODY: FoundSpeakers = { turns: [], isUncertain: false };

/** A finder that reports half of its work at once, and ends when the test says. */
function openFakeFinder() {
  const ends: (() => void)[] = [];
  const finder: SpeakerFinder = {
    find(_audio, { onProgress, signal }) {
      onProgress?.(0.5);
      const { promise, resolve, reject } = Promise.withResolvers<FoundSpeakers>();
      signal.addEventListener('abort', () => reject(signal.reason));
      ends.push(() => resolve(NOBODY));
      return promise;
    },
  };
  return { finder, count: () => ends.length, endNext: () => ends.shift()!() };
}

test('while speakers are searched for, another job is transcribed; no more than two jobs are under way for a place', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const { finder, count, endNext } = openFakeFinder();
  await fixture.startWorker(openFakeEngine({ says: 'hello' }), { concurrency: 1, speakerFinder: finder });
  const send = async (fields: Record<string, string>) =>
    (await fixture.transcribe(account, wavFile(1), { async: 'true', ...fields })).json.id as string;
  const searching = await send({ diarize: 'true' });
  await until('the search', () => count() === 1);

  const plain = await fixture.ended(account, await send({}));
  const second = await send({ diarize: 'true' });
  await until('the second search', () => count() === 2);
  const waiting = await send({});
  // Progress is written with the renewal of the lease, every 2 s: by then the queue was read more than once.
  await until('the renewal', async () => (await fixture.job(account, second)).progress > 0.6);
  const [first, third] = [await fixture.job(account, searching), await fixture.job(account, waiting)];

  assert.deepEqual([plain.status, first.status, third.status], ['completed', 'processing', 'queued']);
  endNext();
  assert.equal((await fixture.ended(account, waiting)).status, 'completed');
  endNext();
  for (const id of [searching, second]) assert.deepEqual((await fixture.ended(account, id)).speakers, []);
});

test('the progress of a job is 0.6 when its text is complete, and grows with the search', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const { finder, endNext } = openFakeFinder();
  await fixture.startWorker(openFakeEngine({ says: 'hello' }), { speakerFinder: finder });
  const { id } = (await fixture.transcribe(account, wavFile(1), { async: 'true', diarize: 'true' })).json;

  // Progress is written with the next renewal of the lease.
  const progress = await until('progress', async () => (await fixture.job(account, id)).progress as number);

  assert.equal(progress, 0.8);
  endNext();
  assert.equal((await fixture.ended(account, id)).progress, 1);
});

test('while the end of a job is written, another job is transcribed in its place', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine();
  await fixture.startWorker(engine, { concurrency: 1 });
  const send = async () => (await fixture.transcribe(account, wavFile(1), { async: 'true' })).json.id as string;
  const first = await send();
  const call = await engine.nextCall();
  const second = await send();

  await fixture.db.transaction(async (tx) => {
    await tx.rows({
      text: 'select from jobs where shard = $1 and id = $2 for update',
      values: [account.shard, first],
    });
    // The end of the first job waits for the row.
    call.say('one');
    (await engine.nextCall()).say('two');
  });

  assert.deepEqual(
    [(await fixture.ended(account, first)).status, (await fixture.ended(account, second)).status],
    ['completed', 'completed'],
  );
});
