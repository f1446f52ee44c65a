import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { channelsWav, openTestFolder, type TestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { until } from '../../../test/fixtures/until.ts';
import { FileStart } from '../file-start.ts';
import { probeAudio, probeStart } from './probe.ts';

const options = { tools: TEST_TOOLS, maxAudioSeconds: 100 };
const SPEECH = toneSpeech('a few words');

/** A file whose tracks have these tags; track n plays n + 1 seconds less than the first. */
async function tracksFile(folder: TestFolder, name: string, tags: Record<string, string>[]) {
  const audio = channelsWav([toneSpeech('a long text of some words and then some more of them')]);
  const filters = tags.map((_, track) => `[0:a]atrim=duration=${tags.length - track}[t${track}]`);
  const output = tags.flatMap((own, track) => [
    ...['-map', `[t${track}]`],
    ...Object.entries(own).flatMap(([key, value]) => [`-metadata:s:a:${track}`, `${key}=${value}`]),
  ]);
  return await folder.encode(name, audio, '-filter_complex', filters.join(';'), ...output, '-c:a', 'aac');
}

test('the audio tracks of a file are listed with their languages and titles, and the length is that of the chosen one', async () => {
  await using folder = await openTestFolder();
  const tags: Record<string, string>[] = [
    { language: 'eng' },
    { language: 'ger', title: 'Komment\u202ear' },
    {},
    { language: 'und' },
  ];
  const file = await tracksFile(folder, 'a.mkv', tags);

  for (const [track, seconds] of [
    [null, 4],
    [0, 4],
    [1, 3],
    ['de', 3],
    ['en', 4],
    [3, 1],
  ] as const) {
    const probed = await probeAudio(file, { ...options, track });

    assert.ok(probed.kind === 'audio', JSON.stringify(probed));
    assert.ok(Math.abs(probed.durationMs - seconds * 1000) < 100, `${track}: ${probed.durationMs} ms`);
    assert.deepEqual(probed.tracks, [
      { index: 0, language: 'en', title: null, codec: 'aac', channels: 1, default: true },
      { index: 1, language: 'de', title: 'Kommentar', codec: 'aac', channels: 1, default: false },
      { index: 2, language: null, title: null, codec: 'aac', channels: 1, default: false },
      { index: 3, language: null, title: null, codec: 'aac', channels: 1, default: false },
    ]);
  }
});

test('a track that a file does not have is refused with what there is', async () => {
  await using folder = await openTestFolder();
  const file = await tracksFile(folder, 'a.mp4', [{ language: 'eng' }, { language: 'fra' }]);

  for (const track of [2, 'de']) {
    assert.deepEqual(await probeAudio(file, { ...options, track }), {
      kind: 'refused',
      message: `The file has no audio track ${track}. Its audio tracks are: 0 (en), 1 (fr).`,
      param: 'audio_track',
    });
  }
});

test('a plain WAV file has one track, without a language', async () => {
  const start = new FileStart();
  start.update(wavFile(1));

  assert.equal((await probeStart(start, { ...options, track: 0 }))?.kind, 'audio');
  for (const track of [1, 'en']) assert.equal((await probeStart(start, { ...options, track }))?.kind, 'refused');
});

test('a small file is not probed by its headers when a track is chosen', async () => {
  await using folder = await openTestFolder();
  const start = new FileStart();
  start.update(await readFile(await folder.encode('a.flac', SPEECH)));

  // A busy machine may leave the file to ffprobe, which is not asked here.
  await until('the headers', async () => (await probeStart(start, options))?.kind === 'audio');
  assert.equal(await probeStart(start, { ...options, track: 0 }), null);
});

test('at most 32 tracks are listed, and only a listed one can be chosen', async () => {
  await using folder = await openTestFolder();
  const maps = Array.from({ length: 40 }, () => ['-map', '0:a']).flat();
  const file = await folder.encode('a.mka', SPEECH, ...maps, '-c:a', 'flac');

  const last = await probeAudio(file, { ...options, track: 31 });

  assert.ok(last.kind === 'audio' && last.tracks.length === 32);
  assert.equal((await probeAudio(file, { ...options, track: 32 })).kind, 'refused');
});

test('a file with a thousand channels is refused', async () => {
  await using folder = await openTestFolder();
  const file = await folder.write('a.wav', channelsWav(Array.from({ length: 1_000 }, () => new Int16Array(160))));

  const probed = await probeAudio(file, options);

  assert.equal(probed.kind, 'refused');
});
