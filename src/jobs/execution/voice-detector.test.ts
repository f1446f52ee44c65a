import assert from 'node:assert/strict';
import test from 'node:test';
import { wavOf } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { type Pcm, SAMPLE_RATE } from '../../engines/engine.ts';
import type { VoiceDetector } from '../../engines/vad/vad.ts';

/** Takes loud samples for speech and all others for noise. */
function openFakeDetector(): VoiceDetector & { asked: number } {
  return {
    asked: 0,
    async find() {
      this.asked += 1;
      return [];
    },
    mayHoldSpeech: async (piece) => piece.some((sample) => sample > 5000),
    async [Symbol.asyncDispose]() {},
  };
}

/** A steady hum of 70 s, loud from 55 s on. */
const HUM: Pcm = Int16Array.from(
  { length: 70 * SAMPLE_RATE },
  (_, at) => (at < 55 * SAMPLE_RATE ? 1000 : 8000) * Math.sin(at / 20),
);

test('with a voice detector, pieces without speech are not given to the engine and have no words', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const detector = openFakeDetector();
  const engine = openFakeEngine({ says: 'well done' });
  await fixture.startWorker(engine, { detector });

  const { id } = (await fixture.transcribe(account, Buffer.from(wavOf(HUM)), { async: 'true', language: 'de' })).json;
  const job = await fixture.ended(account, id);

  assert.deepEqual([job.status, job.text, engine.count(), detector.asked], ['completed', 'well done', 1, 2]);
  assert.ok(job.segments[0].start > 40 && job.audio.duration_seconds === 70, JSON.stringify(job));
});

test('audio without detected speech has an empty text in the requested language', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine({ says: 'thank you for watching' });
  await fixture.startWorker(engine, { detector: openFakeDetector() });

  const audio = wavOf(HUM.slice(0, 3 * SAMPLE_RATE));
  const { id } = (await fixture.transcribe(account, audio, { async: 'true', language: 'de' })).json;
  const job = await fixture.ended(account, id);

  assert.deepEqual([job.status, job.text, job.segments, job.language, engine.count()], ['completed', '', [], 'de', 0]);
  assert.deepEqual(
    job.warnings.map(({ code }: { code: string }) => code),
    ['no_speech'],
  );
});
