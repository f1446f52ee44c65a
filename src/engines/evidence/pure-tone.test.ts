import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { ROOT } from '../../platform/installation.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { isPureTone } from './pure-tone.ts';

const sound = (seconds: number, wave: (second: number) => number): Pcm =>
  Int16Array.from({ length: seconds * SAMPLE_RATE }, (_, at) => wave(at / SAMPLE_RATE));
const sine = (hertz: number, second: number) => Math.sin(2 * Math.PI * hertz * second);
const random = randomFrom(5).next;

const TONES: [string, Pcm][] = [
  ['a tone of 440 Hz', sound(2, (at) => 2000 * sine(440, at))],
  ['a quiet tone of 3 kHz', sound(1, (at) => 200 * sine(3000, at))],
  ['a low tone', sound(1, (at) => 1000 * sine(127, at))],
  ['a ringing tone with pauses', sound(10, (at) => (at % 5 < 1 ? 6000 * sine(425, at) : 0))],
  ['a tone with the noise of a codec', sound(2, (at) => 8000 * sine(440, at) + 100 * (random() - 0.5))],
  ['letters of the alphabet of tones', toneSpeech("don't panic")],
];
const OTHERS: [string, Pcm][] = [
  ['silence', new Int16Array(SAMPLE_RATE)],
  ['nothing', new Int16Array(0)],
  ['noise', sound(1, () => 4000 * (random() - 0.5))],
  ['two tones at once', sound(1, (at) => 2000 * (sine(697, at) + sine(1209, at)))],
  ['hum of the mains', sound(2, (at) => 2000 * sine(50, at) + 1000 * sine(100, at) + 600 * sine(150, at))],
  ['knocks', sound(2, (at) => 9000 * Math.exp(-40 * (at % 0.5)) * sine(120, at) + 200 * (random() - 0.5))],
];

for (const [what, piece] of TONES) test(`${what}: a pure tone`, () => assert.equal(isPureTone(piece), true));
for (const [what, piece] of OTHERS) test(`${what}: no pure tone`, () => assert.equal(isPureTone(piece), false));

test('speech is no pure tone, nor is speech after a long ringing tone', async () => {
  const file = await readFile(path.join(ROOT, 'assets/speech/librivox-0880.wav'));
  const speech = new Int16Array(file.buffer.slice(file.byteOffset + 44, file.byteOffset + 44 + 2 * SAMPLE_RATE));
  const both = new Int16Array(20 * SAMPLE_RATE);
  both.set(sound(18, (at) => 6000 * sine(425, at)));
  both.set(speech, 18 * SAMPLE_RATE);

  assert.deepEqual([isPureTone(speech), isPureTone(both)], [false, false]);
});
