import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progressText, type Running } from './progress-text.ts';

const live = { status: 'processing', queuePosition: null, progress: 0 } as const;

for (const [title, running, now, figures] of [
  [
    'a job that waits tells its place',
    { live: { ...live, status: 'queued', queuePosition: 3 }, audioSeconds: 90, elapsedSeconds: null },
    'Waits as number 3 in the queue',
    '1:30 of audio',
  ],
  [
    'without progress a job tells for how long it runs',
    { live, audioSeconds: 90, elapsedSeconds: 4 },
    'Reading and decoding the audio',
    '1:30 of audio, running for 0:04',
  ],
  [
    'with progress a job tells its speed and the time left',
    { live: { ...live, progress: 0.5 }, audioSeconds: 120, elapsedSeconds: 10 },
    'Transcribed 1:00 of 2:00, 50 %',
    '6.0× real time, about 0:10 left',
  ],
  [
    'without a length there is no speed',
    { live: { ...live, progress: 0.25 }, audioSeconds: null, elapsedSeconds: 3 },
    'Transcribing, 25 %',
    'running for 0:03',
  ],
] satisfies [string, Running, string, string][]) {
  test(title, () => assert.deepEqual(progressText(running as Running), { now, figures }));
}
