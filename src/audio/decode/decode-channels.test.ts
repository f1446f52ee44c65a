import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { channelsWav, openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { descendantsOf, type ProcessEntry } from '../../../test/fixtures/processes/process-list.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { until } from '../../../test/fixtures/until.ts';
import { type Pcm, SAMPLE_RATE } from '../../engines/engine.ts';
import { AudioError } from '../audio-error.ts';
import { AudioGoneError } from '../storage/storage.ts';
import { decodePcm } from './decode.ts';
import { decodeChannels } from './decode-channels.ts';

const options = { tools: TEST_TOOLS, maxAudioSeconds: 100 };

/** Random samples, so that a mixture or a wrong order shows. */
function channelsOf(count: number, seconds = 0.7): Pcm[] {
  return Array.from({ length: count }, (_, channel) => {
    const random = randomFrom(100 + channel);
    return Int16Array.from({ length: Math.round(seconds * SAMPLE_RATE) }, () => random.integer(20_000) - 10_000);
  });
}

async function decoded(file: string, selected: number[] | null, more = {}): Promise<number[][]> {
  const channels: number[][] = [];
  for await (const chunk of decodeChannels(file, selected, { ...options, ...more })) {
    for (const [position, samples] of chunk.entries()) (channels[position] ??= []).push(...samples);
  }
  return channels;
}

for (const count of [1, 2, 3, 4, 5, 6, 7, 8]) {
  test(`the samples of ${count} channels come out unchanged and in order`, async () => {
    await using folder = await openTestFolder();
    const channels = channelsOf(count);
    const file = await folder.write('upload', channelsWav(channels));

    assert.deepEqual(
      await decoded(file, null),
      channels.map((pcm) => [...pcm]),
    );
  });
}

test('chosen channels come in the order of the choice', async () => {
  await using folder = await openTestFolder();
  const channels = channelsOf(6);
  const file = await folder.encode('upload.flac', channelsWav(channels));

  assert.deepEqual(
    await decoded(file, [5, 0, 3]),
    [5, 0, 3].map((channel) => [...channels[channel]!]),
  );
});

for (const layout of ['quad', '4.0', '5.0', '5.1', '7.1', 'octagonal', '3.0', '2.1']) {
  test(`the loudspeaker layout ${layout} does not mix channels`, async () => {
    await using folder = await openTestFolder();
    const count = { quad: 4, '4.0': 4, '5.0': 5, '5.1': 6, '7.1': 8, octagonal: 8, '3.0': 3, '2.1': 3 }[layout]!;
    const channels = channelsOf(count, 0.2);
    const named = ['-af', `channelmap=${channels.map((_, channel) => channel).join('|')}:${layout}`];
    const file = await folder.encode('upload.wav', channelsWav(channels), ...named);
    const all = channels.map((pcm) => [...pcm]);

    assert.deepEqual(await decoded(file, null), all);
    assert.deepEqual(await decoded(file, [0, count - 1]), [all[0], all[count - 1]]);
  });
}

test('of a file with several audio tracks the chosen one is decoded, mixed or by channel', async () => {
  await using folder = await openTestFolder();
  const channels = channelsOf(3, 0.2);
  const split = '[0:a]asplit=3[x][y][z];[x]pan=1c|c0=c0[a];[y]pan=1c|c0=c1[b];[z]pan=1c|c0=c2[c]';
  const tracks = ['-filter_complex', split, '-map', '[a]', '-map', '[b]', '-map', '[c]', '-c:a', 'flac'];
  const file = await folder.encode('upload.mkv', channelsWav(channels), ...tracks);

  for (const [track, pcm] of channels.entries()) {
    const mixed: number[] = [];
    for await (const chunk of decodePcm(file, { ...options, track })) mixed.push(...chunk);
    assert.deepEqual(mixed, [...pcm]);
    assert.deepEqual(await decoded(file, null, { track }), [[...pcm]]);
  }
  await assert.rejects(decoded(file, null, { track: 3 }), AudioError);
});

test('more channels than the limit and audio over the limit are refused', async () => {
  await using folder = await openTestFolder();
  const nine = await folder.write('nine', channelsWav(channelsOf(9, 0.1)));
  const two = await folder.write('two', channelsWav(channelsOf(2, 1.1)));

  await assert.rejects(decoded(nine, null), { name: 'AudioError', message: /at most 8 channels; it has 9/ });
  await assert.rejects(decoded(two, null, { maxAudioSeconds: 1 }), /longer than the limit of 1 seconds/);
});

test('a file that is gone, empty or no audio is refused as when it is decoded to one channel', async () => {
  await using folder = await openTestFolder();
  const text = await folder.write('text', 'Dear Sir or Madam,\n'.repeat(500));
  const empty = await folder.write('empty', channelsWav([new Int16Array(0), new Int16Array(0)]));

  await assert.rejects(decoded(path.join(folder.path, 'gone'), null), AudioGoneError);
  await assert.rejects(decoded(text, null, { sizeBytes: 100_000 }), AudioGoneError);
  await assert.rejects(decoded(text, null), { name: 'AudioError', message: /no sound/ });
  await assert.rejects(decoded(empty, null), { name: 'AudioError', message: /no sound/ });
});

test('a consumer that stops early ends the decoder', async () => {
  await using folder = await openTestFolder();
  const file = await folder.write('upload', channelsWav(channelsOf(2, 60)));

  for await (const _ of decodeChannels(file, null, options)) break;
  for await (const _ of decodeChannels(file, [1], options)) break;

  const isDecoder = (entry: ProcessEntry) => entry.arguments.some((argument) => argument.endsWith('ffmpeg'));
  await until('the end of the decoders', () => !descendantsOf(process.pid).some(isDecoder));
  assert.deepEqual(descendantsOf(process.pid).filter(isDecoder), []);
});
