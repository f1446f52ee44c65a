import assert from 'node:assert/strict';
import { appendFile, readFile, stat, truncate } from 'node:fs/promises';
import test from 'node:test';
import { channelsWav, openTestFolder, silenceWav, type TestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { SAMPLE_RATE } from '../../engines/engine.ts';
import { decodePcm } from '../decode/decode.ts';
import { isCutOff, readStatedLength } from './cut-off.ts';
import { probeAudio } from './probe.ts';

const SECONDS = 20;
const options = { tools: TEST_TOOLS, maxAudioSeconds: 100 };
/** Noise, which no codec makes small. */
const NOISE = Int16Array.from({ length: SECONDS * SAMPLE_RATE }, (_, at) => ((at * 7919 * (at % 31)) % 9000) - 4500);

/** Whether the file is found to be cut off, after it was decoded. */
async function isFoundCut(file: string, isInMemory = false): Promise<boolean> {
  let samples = 0;
  for await (const chunk of decodePcm(file, options)) samples += chunk.length;
  return isCutOff(await readStatedLength(file, { isInMemory }), samples / SAMPLE_RATE);
}

/** The file without its end, of which this share is left. */
async function cut(file: string, share: number): Promise<string> {
  await truncate(file, Math.floor((await stat(file)).size * share));
  return file;
}

/** What makes a file with a length in its header. */
const FORMATS: Record<string, string[]> = {
  'plain.wav': [],
  'stereo.wav': ['-ar', '44100', '-ac', '2'],
  'constant.mp3': ['-b:a', '64k'],
  'variable.mp3': ['-q:a', '5'],
  'a.flac': [],
  'a.webm': ['-c:a', 'libopus'],
  'opus.ogg': ['-c:a', 'libopus'],
  'vorbis.ogg': ['-c:a', 'libvorbis'],
  'a.mkv': ['-c:a', 'aac'],
  'a.aiff': [],
  'a.m4a': ['-movflags', '+faststart'],
};

for (const [name, args] of Object.entries(FORMATS)) {
  test(`${name}: a file without its second half is cut off, the whole one and one that ends 0.5 s earlier are not`, async () => {
    await using folder = await openTestFolder();
    const file = await folder.encode(name, NOISE, ...args);

    assert.equal(await isFoundCut(file), false);
    // A page of Ogg says whether it is whole.
    if (!name.endsWith('.ogg')) assert.equal(await isFoundCut(await cut(file, 1 - 0.5 / SECONDS)), false);
    await cut(file, 0.5);
    assert.equal(await isFoundCut(file, true), true);
  });
}

for (const name of ['a.mp3', 'a.flac']) {
  test(`${name}: a tag before the audio is not taken for audio`, async () => {
    await using folder = await openTestFolder();
    const bytes = await readFile(await folder.encode(`tagless-${name}`, NOISE, '-id3v2_version', '0'));
    const tag = Buffer.alloc(300_010);
    tag.write('ID3\x04');
    tag.set([0, 300_000 >> 14, (300_000 >> 7) & 127, 300_000 & 127], 6);
    const file = await folder.write(name, Buffer.concat([tag, bytes]));

    assert.equal(await isFoundCut(file), false);
    await truncate(file, tag.length + bytes.length / 2);
    assert.equal(await isFoundCut(file), true);
  });
}

/** What a program writes that cannot go back to its header. */
const STREAMED: Record<string, (folder: TestFolder) => Promise<string>> = {
  'WAV with a size of nearly 2 GiB': async (folder) => {
    const wav = silenceWav(SECONDS);
    wav.writeUInt32LE(0x7fff_f000, 40);
    return await folder.write('a.wav', wav);
  },
  'WAV with a size of nearly 4 GiB': async (folder) => {
    const wav = channelsWav([NOISE, NOISE]);
    wav.writeUInt32LE(0xffff_ffff, 40);
    return await folder.write('a.wav', wav);
  },
  'AIFF with a size of nearly 2 GiB': async (folder) => {
    const file = await readFile(await folder.encode('whole.aiff', NOISE));
    file.writeUInt32BE(0x7f00_0000, 4);
    return await folder.write('a.aiff', file);
  },
  'MP3 without Xing': (folder) => folder.encode('a.mp3', NOISE, '-write_xing', '0'),
  'FLAC without a number of samples': async (folder) => {
    const file = await readFile(await folder.encode('whole.flac', NOISE));
    file.fill(0, 22, 26);
    return await folder.write('a.flac', file);
  },
  'WebM of a live recording': (folder) => folder.encode('a.webm', NOISE, '-c:a', 'libopus', '-live', '1'),
  'MP4 in fragments': (folder) =>
    folder.encode('a.m4a', NOISE, '-movflags', 'frag_keyframe+empty_moov', '-frag_duration', '100000'),
  ADTS: (folder) => folder.encode('a.aac', NOISE),
};

for (const [what, make] of Object.entries(STREAMED)) {
  test(`${what} states no length, and is not taken to be cut off`, async () => {
    await using folder = await openTestFolder();
    const file = await make(folder);

    assert.equal(await isFoundCut(file), false);
    assert.equal(await isFoundCut(await cut(file, 0.5)), false);
  });
}

test('audio that plays shorter than it is stored, and a tag at the end, are not a cut', async () => {
  await using folder = await openTestFolder();
  const whole = await folder.encode('whole.m4a', NOISE);
  const edited = await folder.encode('edited.m4a', await readFile(whole), '-ss', '15', '-c', 'copy');
  const ogg = await folder.encode('a.ogg', NOISE, '-c:a', 'libopus');
  await appendFile(ogg, Buffer.alloc(128, 'TAG'));

  assert.deepEqual([await isFoundCut(edited), await isFoundCut(ogg)], [false, false]);
});

for (const [what, share] of [
  ['before its index', 0.5],
  ['within its index', 0.999],
] as const) {
  test(`an m4a that ends ${what} is refused as incomplete`, async () => {
    await using folder = await openTestFolder();
    const file = await cut(await folder.encode('a.m4a', NOISE), share);

    assert.deepEqual(await probeAudio(file, options), {
      kind: 'refused',
      message: 'The file is incomplete: its end is missing.',
    });
  });
}

test('a file that merely begins like an m4a is not called incomplete', async () => {
  await using folder = await openTestFolder();
  const file = await readFile(await folder.encode('a.m4a', NOISE, '-movflags', '+faststart'));
  file.fill(0xff, 100, 2_000);

  const probed = await probeAudio(await folder.write('b.m4a', file), options);

  assert.deepEqual(probed, { kind: 'refused', message: 'The file holds no audio track.' });
});
