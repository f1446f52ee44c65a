import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { formOf, openJobFixture } from '../../../test/fixtures/job.ts';
import type { Transcript } from '../../engines/engine.ts';
import type { SpeakerFinder } from '../../engines/speakers/speakers.ts';
import { reportEngine } from '../api/engine-store.ts';

const fixture = await openJobFixture();
const account = await fixture.account();
test.after(() => fixture[Symbol.asyncDispose]());

const DIARIZED = { response_format: 'diarized_json' };
const SPOKEN: Transcript = {
  language: 'zh',
  segments: [
    {
      text: '你好再见。',
      startSeconds: 0,
      endSeconds: 4,
      confidence: null,
      words: ['你', '好', '再', '见。'].map((text, at) => ({
        text,
        startSeconds: at,
        endSeconds: at + 0.9,
        confidence: null,
      })),
    },
  ],
};
const SEGMENTS = [
  { type: 'transcript.text.segment', id: 'seg_001', start: 0, end: 1.9, text: '你好', speaker: 'A' },
  { type: 'transcript.text.segment', id: 'seg_002', start: 2, end: 4, text: '再见。', speaker: 'B' },
];
const USAGE = { type: 'duration', seconds: 40 };

const turn = (voice: number, startSeconds: number, endSeconds: number) => ({ voice, startSeconds, endSeconds });
const finder: SpeakerFinder = {
  find: async () => ({ turns: [turn(0, 0, 2), turn(1, 2, 4)], isUncertain: false }),
};

const post = async (speakerFinder: SpeakerFinder | null) => {
  const engine = openFakeEngine();
  const worker = await fixture.startWorker(engine, { concurrency: 1, ...(speakerFinder && { speakerFinder }) });
  const answer = fixture.post(account, '/v1/audio/transcriptions', formOf(wavFile(40), Object.entries(DIARIZED)));
  (await engine.nextCall()).answer(SPOKEN);
  (await engine.nextCall()).answer({ segments: [], language: null });
  const { json } = await answer;
  await worker.stop();
  return json;
};

test('diarized_json has a segment for each change of the speaker', async () => {
  assert.deepEqual(await post(finder), {
    task: 'transcribe',
    duration: 40,
    text: '你好 再见。',
    segments: SEGMENTS,
    usage: USAGE,
  });
});

test('where the speakers are not found, the segments have none', async () => {
  const { text, segments } = await post(null);

  assert.deepEqual([text, segments.length, segments[0].speaker], ['你好再见。', 1, null]);
});

test('a stream of diarized_json has the text and the segments at its end; the deltas add up to the text', async () => {
  const engine = openFakeEngine();
  const worker = await fixture.startWorker(engine, { concurrency: 1, speakerFinder: finder });
  const { events } = await fixture.streamText(account, wavFile(40), { fields: DIARIZED });

  (await engine.nextCall()).answer(SPOKEN);
  (await engine.nextCall()).answer({ segments: [], language: null });
  const all = await Array.fromAsync(events);
  await worker.stop();

  const text = '你好 再见。';
  assert.deepEqual(all, [
    { type: 'transcript.text.delta', delta: text },
    ...SEGMENTS,
    { type: 'transcript.text.done', text, usage: USAGE },
  ]);
});

test('without a speaker model diarized_json is a 400 that names the format, and other formats are not', async () => {
  await reportEngine(fixture.db, 'pro', openFakeEngine());
  const { status, json } = await fixture.post(
    account,
    '/v1/audio/transcriptions',
    formOf(wavFile(1), Object.entries(DIARIZED)),
  );
  const streamed = await fixture.streamText(account, wavFile(1), { fields: DIARIZED }).catch((error) => error);

  assert.deepEqual([status, json.error.param, streamed.param], [400, 'response_format', 'response_format']);
  assert.match(json.error.message, /verbatim models pull speakers/);
});
