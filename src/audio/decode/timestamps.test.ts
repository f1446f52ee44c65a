import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { openTestFolder, stereoWav, type TestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { SAMPLE_RATE } from '../../engines/engine.ts';
import { AudioError } from '../audio-error.ts';
import { probeAudio } from '../media/probe.ts';
import { decodePcm } from './decode.ts';
import { decodeChannels } from './decode-channels.ts';

const options = { tools: TEST_TOOLS, maxAudioSeconds: 100 };
const SPEECH = toneSpeech('a few words of speech');
const SECONDS = SPEECH.length / SAMPLE_RATE;
const PICTURE = ['-f', 'lavfi', '-i', 'color=c=blue:s=64x64:r=10:d=12'];

/** A video whose audio starts so many seconds after the picture. */
async function lateAudio(folder: TestFolder, name: string, seconds: number, codec: string): Promise<string> {
  const late = ['-itsoffset', String(seconds), '-i', path.join(folder.path, `${name}.source.wav`)];
  const maps = ['-map', '1:v', '-map', '2:a', '-c:v', 'mpeg4', '-c:a', codec];
  return await folder.encode(name, SPEECH, ...PICTURE, ...late, ...maps);
}

/** Speech of which all that follows the first second is so many seconds later: what came between is missing. */
async function withHole(folder: TestFolder, name: string, seconds: number, audio = stereoWav(SPEECH)): Promise<string> {
  const whole = await readFile(await folder.encode(`whole-${name}`, audio, '-c:a', 'libopus'));
  const later = `setts=ts=if(gt(PTS*TB\\,1)\\,PTS+${seconds}/TB\\,PTS)`;
  return await folder.encode(name, whole, '-c', 'copy', '-bsf:a', later);
}

/** The length of the decoded audio, and where its sound is: the parts of a second in which it is loud. */
async function decoded(file: string): Promise<{ seconds: number; loud: number[] }> {
  const samples: number[] = [];
  for await (const chunk of decodePcm(file, options)) for (const sample of chunk) samples.push(sample);
  const loud = new Set<number>();
  for (const [at, sample] of samples.entries()) if (Math.abs(sample) > 3000) loud.add(Math.floor(at / SAMPLE_RATE));
  return { seconds: samples.length / SAMPLE_RATE, loud: [...loud] };
}

/** The length that both ways of the probe claim. */
async function probedSeconds(file: string): Promise<number[]> {
  const probed = [await probeAudio(file, options), await probeAudio(file, { ...options, track: 0 })];
  return probed.map((result) => (result.kind === 'audio' ? result.durationMs / 1000 : 0));
}

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 0.1, `${actual} s, not ${expected} s`);

for (const [name, codec] of [
  ['late.mp4', 'aac'],
  ['late.mkv', 'flac'],
  ['late.mov', 'pcm_s16le'],
] as const) {
  test(`audio that starts 5 s after the picture of ${name} is decoded, and claimed, to its end in the video`, async () => {
    await using folder = await openTestFolder();
    const file = await lateAudio(folder, name, 5, codec);

    const { seconds, loud } = await decoded(file);

    near(seconds, 5 + SECONDS);
    assert.deepEqual(loud.slice(0, 2), [5, 6]);
    for (const claimed of await probedSeconds(file)) near(claimed, 5 + SECONDS);
  });
}

for (const name of ['paused.webm', 'paused.mkv']) {
  test(`a hole of 20 s in the timestamps of ${name} is decoded as silence`, async () => {
    await using folder = await openTestFolder();
    const file = await withHole(folder, name, 20);

    const { seconds, loud } = await decoded(file);

    near(seconds, 20 + SECONDS);
    assert.deepEqual(loud.slice(0, 3), [0, 21, 22]);
    for (const claimed of await probedSeconds(file)) near(claimed, 20 + SECONDS);
  });
}

test('a hole counts for each channel of a track', async () => {
  await using folder = await openTestFolder();
  const file = await withHole(folder, 'paused.mkv', 20);
  const lengths = [0, 0];

  for await (const chunk of decodeChannels(file, null, options)) {
    for (const [channel, samples] of chunk.entries()) lengths[channel]! += samples.length;
  }

  assert.equal(lengths[0], lengths[1]);
  near(lengths[0]! / SAMPLE_RATE, 20 + SECONDS);
});

test('a hole beyond the limit of the length is refused without its silence', async () => {
  await using folder = await openTestFolder();
  const file = await withHole(folder, 'paused.mkv', 20_000);
  let samples = 0;

  const decoding = (async () => {
    for await (const chunk of decodePcm(file, options)) samples += chunk.length;
  })();

  await assert.rejects(decoding, { name: 'AudioError', message: /longer than the limit of 100 seconds/ });
  assert.ok(samples < 2 * SAMPLE_RATE, `${samples} samples`);
  await assert.rejects(Array.fromAsync(decodeChannels(file, null, options)), AudioError);
});

test('a hole of years gives no more silence than the limit allows', async () => {
  await using folder = await openTestFolder();
  const file = await withHole(folder, 'paused.webm', 300_000_000);

  const length = await decoded(file).then(
    ({ seconds }) => seconds,
    (error) => (error instanceof AudioError ? 0 : Promise.reject(error)),
  );

  assert.ok(length <= options.maxAudioSeconds, `${length} s`);
});
