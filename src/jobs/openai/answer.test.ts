import assert from 'node:assert/strict';
import test from 'node:test';
import type { Job } from '../job.ts';
import { renderOpenAi } from './answer.ts';
import type { OpenAiRequest } from './request.ts';

type Shown = { segments: { compression_ratio: number; no_speech_prob: number }[] };

test('verbose_json has the compression ratio of each text, as Whisper computes it, and its share without speech', () => {
  const loop = 'Thank you. '.repeat(20).trim();
  const plain = 'And so, my fellow Americans, ask not what your country can do for you.';
  const segments = [
    { start: 0, end: 5, text: plain, confidence: null, no_speech_share: 0.125 },
    { start: 5, end: 9, text: loop, confidence: null },
  ];
  const job = { segments: JSON.stringify(segments), durationMs: 9000, transcript: '', detectedLanguage: 'en' } as Job;
  const request = { format: 'verbose_json', granularities: ['segment'], options: {} } as unknown as OpenAiRequest;

  const [first, second] = (renderOpenAi(job, request).body as Shown).segments;

  // Of Python's zlib, at its default level.
  assert.deepEqual(
    [first, second].map((one) => Math.round(one!.compression_ratio * 1000) / 1000),
    [0.986, 9.955],
  );
  assert.deepEqual([first!.no_speech_prob, second!.no_speech_prob], [0.125, 0]);
});
