import assert from 'node:assert/strict';
import test from 'node:test';
import { wavOf } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { type Engine, type Pcm, SAMPLE_RATE } from '../../engines/engine.ts';
import type { VoiceDetector } from '../../engines/vad/vad.ts';

/** Takes loud seconds for speech and all others for noise. */
function openFakeDetector(): VoiceDetector {
  return {
    async find(audio) {
      const seconds = Array.from({ length: Math.floor(audio.length / SAMPLE_RATE) }, (_, second) => second);
      const isLoud = (second: number) =>
        audio.subarray(second * SAMPLE_RATE, (second + 1) * SAMPLE_RATE).some((sample) => sample > 5000);
      return seconds.filter(isLoud).map((second) => ({ startSeconds: second, endSeconds: second + 1 }));
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** Noise, loud in the given seconds, and very loud in others. */
function noise(lengthSeconds: number, loud: [number, number][], veryLoud: [number, number][] = []): Pcm {
  const random = randomFrom(7).next;
  const isIn = (parts: [number, number][], at: number) =>
    parts.some(([from, to]) => at >= from * SAMPLE_RATE && at < to * SAMPLE_RATE);
  const loudness = (at: number) => (isIn(veryLoud, at) ? 50_000 : isIn(loud, at) ? 16_000 : 1000);
  return Int16Array.from({ length: lengthSeconds * SAMPLE_RATE }, (_, at) => (random() - 0.5) * loudness(at));
}

/** Says something usual of audio that is not very loud, and nothing of other audio. */
function openPartlySilentEngine(): Engine {
  const engine = openFakeEngine({ says: 'well done, all of you, my dear friends' });
  return {
    ...engine,
    transcribe: async (piece, options) =>
      piece.some((sample) => sample > 10_000)
        ? { segments: [], language: null }
        : await engine.transcribe(piece, options),
  };
}

/** The ended job of the audio, and its account's balance. */
async function transcribe(audio: Pcm, engine: Engine, fields: Record<string, string> = {}) {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  await fixture.startWorker(engine, { detector: openFakeDetector() });
  const { id } = (await fixture.transcribe(account, wavOf(audio), { async: 'true', ...fields })).json;
  const job = await fixture.ended(account, id);
  const balances = await fixture.db.rows<{ amount: number; held: number }>({
    text: 'select amount, held from accounts',
  });
  return { job, balance: balances[0]! };
}

const codes = (job: { warnings: { code: string }[] }) => job.warnings.map(({ code }) => code);

test('the engine is given the detected speech only, and the text has its times', async () => {
  const engine = openFakeEngine({ says: 'well done, all of you, my dear friends' });

  const { job } = await transcribe(noise(70, [[55, 58]]), engine, { language: 'de' });

  assert.deepEqual([job.status, job.warnings, engine.count()], ['completed', [], 1]);
  assert.ok(job.segments[0].start >= 54 && job.segments[0].end <= 59, JSON.stringify(job.segments));
  assert.equal(job.audio.duration_seconds, 70);
});

test('audio without detected speech reaches no engine: an empty text, in no language', async () => {
  const engine = openFakeEngine({ says: 'thank you for watching' });

  const { job } = await transcribe(noise(3, []), engine, { language: 'de' });

  assert.deepEqual([job.status, job.text, job.segments, job.language, engine.count()], ['completed', '', [], null, 0]);
  assert.deepEqual(codes(job), ['no_speech']);
  assert.equal(job.cost, 0.1);
});

test('speech without text is a warning with its times, and is not charged', async () => {
  const speech: [number, number][] = [
    [2, 6],
    [50, 54],
  ];

  const { job, balance } = await transcribe(noise(60, speech, [[20, 28]]), openPartlySilentEngine());

  const [warning] = job.warnings;
  assert.deepEqual([job.segments.length, codes(job)], [2, ['untranscribed']]);
  // The cut of the piece may be inside a second, which the fake detector then does not count.
  assert.ok(Math.abs(warning.start - 20) <= 1 && Math.abs(warning.end - 28) <= 1, JSON.stringify(warning));
  const chargedSeconds = 60 - (warning.end - warning.start);
  assert.ok(Math.abs(job.cost - chargedSeconds / 30) < 0.000_001, JSON.stringify([job.cost, warning]));
  assert.deepEqual(balance, { amount: 600e6 - Math.round(chargedSeconds * 2e6), held: 0 });
});

test('audio for which the engine gives no text at all is not charged, and is not called silent', async () => {
  const { job, balance } = await transcribe(noise(8, [[1, 7]]), openFakeEngine({ says: '' }));

  assert.deepEqual([job.status, job.text, codes(job), job.cost], ['completed', '', ['untranscribed'], 0]);
  assert.deepEqual(balance, { amount: 600e6, held: 0 });
});

test('a loop is in the text once, and a warning names its part', async () => {
  const { job } = await transcribe(noise(8, [[1, 3]]), openFakeEngine({ says: 'thank you '.repeat(20).trim() }));

  assert.deepEqual([job.text, codes(job)], ['thank you', ['repetition']]);
  assert.ok(job.warnings[0].start >= 0.5 && job.warnings[0].end <= 3.5, JSON.stringify(job.warnings));
});
