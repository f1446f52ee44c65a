import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import test from 'node:test';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { openHeaderProbe } from './header-probe.ts';

const SPEECH = toneSpeech('a few words');
const SECONDS = SPEECH.length / 16_000;
const video = ['-f', 'lavfi', '-i', 'color=c=blue:s=64x64:r=10:d=5', '-map', '0:a', '-map', '1:v'];

const KNOWN: { file: string; format: string; codec: string; channels?: number; encode: string[] }[] = [
  { file: 'a.wav', format: 'wav', codec: 'pcm_s16le', channels: 2, encode: ['-ar', '44100', '-ac', '2'] },
  { file: 'a.mp3', format: 'mp3', codec: 'mp3', encode: [] },
  { file: 'a.m4a', format: 'm4a', codec: 'aac', encode: [] },
  { file: 'a.ogg', format: 'ogg', codec: 'opus', encode: ['-c:a', 'libopus'] },
  { file: 'a.flac', format: 'flac', codec: 'flac', encode: [] },
  { file: 'a.webm', format: 'webm', codec: 'opus', encode: ['-c:a', 'libopus'] },
  { file: 'a.mp4', format: 'mp4', codec: 'aac', encode: [...video, '-c:v', 'mpeg4'] },
  {
    file: 'a.mkv',
    format: 'mkv',
    codec: 'vorbis',
    encode: [...video, '-c:v', 'mpeg4', '-metadata:s:a:0', 'language=ger'],
  },
];

const bytesOf = async (path: string) => Uint8Array.from(await readFile(path));

test('the format and the length of common files are read from their headers', async (t) => {
  await using folder = await openTestFolder();
  const probe = openHeaderProbe({ maxMs: 30_000 });

  for (const { file, format, codec, channels = 1, encode } of KNOWN) {
    await t.test(file, async () => {
      const path = await folder.encode(file, SPEECH, ...encode);

      const header = await probe({ path });
      const inMemory = await probe({ bytes: await bytesOf(path) });

      assert.deepEqual(inMemory, header);
      assert.equal(header?.format, format);
      const language = encode.includes('language=ger') ? 'de' : null;
      assert.deepEqual(header.track, { index: 0, language, title: null, codec, channels, default: true });
      assert.ok(Math.abs(header.seconds - SECONDS) < 0.1, `${header.seconds} of ${SECONDS}`);
    });
  }
});

test('other files are left to ffprobe', async (t) => {
  await using folder = await openTestFolder();
  const probe = openHeaderProbe();
  const silent = await folder.encode('silent.mp4', SPEECH, ...video.slice(0, 4), '-map', '1:v', '-c:v', 'mpeg4');
  const large = await folder.write('large.wav', 'RIFF');
  await truncate(large, 16 * 1024 * 1024 + 1);
  const others: [string, string][] = [
    ['nothing', await folder.write('empty', '')],
    ['text', await folder.write('a.mp3', 'Dear Sir or Madam,\n'.repeat(500))],
    ['a playlist', await folder.write('a.m3u8', '#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\na.ts\n')],
    ['a video without audio', silent],
    ['a format that the probe does not know', await folder.encode('a.wma', SPEECH)],
    ['a large file', large],
    ['two audio tracks', await folder.encode('a.mka', SPEECH, '-map', '0:a', '-map', '0:a')],
  ];

  for (const [what, path] of others)
    await t.test(what, async () => {
      assert.equal(await probe({ path }), null);
      assert.equal(await probe({ bytes: await bytesOf(path) }), null);
    });
});

test('what the parser says about a file does not reach the output of the process', async () => {
  await using folder = await openTestFolder();
  const [file, program] = [await folder.encode('a.m4a', SPEECH), await folder.write('program.mjs', PROGRAM)];
  const odd = (await readFile(file)).toString('latin1').replaceAll('mp4a', '\u001bc\n]');
  await writeFile(file, odd, 'latin1');

  const { status, stdout, stderr } = spawnSync(process.execPath, [program, file], { encoding: 'utf8' });

  assert.deepEqual([status, stdout, stderr], [0, 'm4a\n', '']);
});

const PROGRAM = `import { openHeaderProbe } from ${JSON.stringify(new URL('./header-probe.ts', import.meta.url))};
  const probe = openHeaderProbe({ maxMs: 30_000 });
  await probe({ path: process.argv[2] });
  // What a thread prints comes with the messages after it.
  console.log((await probe({ path: process.argv[2] })).format);`;

test('where no thread can be started, files are left to ffprobe', async () => {
  // Node throws for this address as it does when the system has no thread left.
  const probe = openHeaderProbe({ module: new URL('http://localhost/') });

  const headers = await Promise.all([probe({ bytes: new Uint8Array(1) }), probe({ bytes: new Uint8Array(1) })]);

  assert.deepEqual(headers, [null, null]);
});
