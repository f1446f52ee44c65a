import assert from 'node:assert/strict';
import { stat, truncate } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { webmOfTinyPackets } from '../../test/fixtures/audio/bombs.ts';
import { openTestFolder, silenceWav } from '../../test/fixtures/audio/test-audio.ts';
import { toneSpeech } from '../../test/fixtures/audio/tone/speech.ts';
import { machineTime } from '../../test/fixtures/machine-time.ts';
import { TEST_TOOLS } from '../../test/fixtures/tools.ts';
import { SAMPLE_RATE } from '../engines/engine.ts';
import { AudioError } from './audio-error.ts';
import { decodePcm } from './decode/decode.ts';
import { probeAudio } from './media/probe.ts';

const options = { tools: TEST_TOOLS, maxAudioSeconds: 100 };

/** The length of the decoded audio. */
async function decodedSeconds(file: string, overrides: Partial<typeof options> & { signal?: AbortSignal } = {}) {
  let samples = 0;
  for await (const chunk of decodePcm(file, { ...options, ...overrides })) samples += chunk.length;
  return samples / SAMPLE_RATE;
}

/** A wav file with some fields of its header overwritten. */
function wavWith(wav: Buffer, changes: { rateHz?: number; channels?: number; dataBytes?: number }): Buffer {
  const changed = Buffer.from(wav);
  if (changes.channels !== undefined) changed.writeUInt16LE(changes.channels, 22);
  if (changes.rateHz !== undefined) changed.writeUInt32LE(changes.rateHz, 24);
  if (changes.dataBytes !== undefined) changed.writeUInt32LE(changes.dataBytes, 40);
  return changed;
}

const PLAYLISTS: { what: string; name: string; text: (target: string, port: number) => string }[] = [
  { what: 'an HLS playlist of a local file', name: 'a.mp3', text: (target) => hls(`file://${target}`) },
  { what: 'an HLS playlist of a local file by its path', name: 'a.wav', text: (target) => hls(target) },
  { what: 'an HLS playlist of a neighbour', name: 'a.mp3', text: (target) => hls(path.basename(target)) },
  { what: 'an HLS playlist of a web address', name: 'a.mp3', text: (_, port) => hls(`http://127.0.0.1:${port}/a.ts`) },
  { what: 'a concat script', name: 'a.mp3', text: (target) => `ffconcat version 1.0\nfile ${path.basename(target)}\n` },
  { what: 'a concat script with a path', name: 'a.mp3', text: (target) => `ffconcat version 1.0\nfile '${target}'\n` },
  {
    what: 'a session description',
    name: 'a.mp3',
    text: (_, port) => `v=0\nc=IN IP4 127.0.0.1\nm=audio ${port} RTP/AVP 0\n`,
  },
];

function hls(segment: string): string {
  return `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n${segment}\n#EXT-X-ENDLIST\n`;
}

for (const { what, name, text } of PLAYLISTS) {
  test(`${what} is refused, and no other file or address is opened`, async () => {
    await using folder = await openTestFolder();
    await using web = await countRequests();
    const target = await folder.encode('of-another-tenant.ts', toneSpeech('a secret of another tenant'), '-c:a', 'mp2');
    const playlist = await folder.write(name, text(target, web.port));

    const probed = await probeAudio(playlist, options);

    assert.equal(probed.kind, 'refused');
    await assert.rejects(decodedSeconds(playlist), AudioError);
    assert.equal(web.requests(), 0);
  });
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const REFUSED: { what: string; bytes: () => Buffer; says: RegExp }[] = [
  { what: 'an empty file', bytes: () => Buffer.alloc(0), says: /not audio or video/ },
  {
    what: 'a text file',
    bytes: () => Buffer.from('Dear Sir or Madam,\n'.repeat(500)),
    says: /is a text file, not audio/,
  },
  { what: 'an image', bytes: () => Buffer.from(PIXEL, 'base64'), says: /is a PNG image, not audio or video/ },
  { what: 'a rate of 1 Hz', bytes: () => wavWith(silenceWav(1), { rateHz: 1 }), says: /sample rate .* says 1\./ },
  { what: 'a rate of 2 GHz', bytes: () => wavWith(silenceWav(1), { rateHz: 2e9 }), says: /sample rate/ },
  { what: 'nine channels', bytes: () => wavWith(silenceWav(1), { channels: 9 }), says: /at most 8 channels|decoded/ },
  { what: 'audio over the limit', bytes: () => silenceWav(100.01), says: /longer than the limit of 100 seconds/ },
];

for (const { what, bytes, says } of REFUSED) {
  test(`the probe refuses ${what}`, async () => {
    await using folder = await openTestFolder();
    const file = await folder.write('upload', bytes());

    const probed = await probeAudio(file, options);

    assert.equal(probed.kind, 'refused');
    assert.match(probed.kind === 'refused' ? probed.message : '', says);
  });
}

test('the probe refuses a video without audio', async () => {
  await using folder = await openTestFolder();
  const picture = ['-f', 'lavfi', '-i', 'color=c=blue:s=64x64:r=10:d=1', '-map', '1:v', '-c:v', 'mpeg4'];
  const file = await folder.encode('silent.mp4', new Int16Array(SAMPLE_RATE), ...picture);

  const probed = await probeAudio(file, options);

  assert.deepEqual(probed, { kind: 'refused', message: 'The file holds no audio track.' });
});

test('a file whose packets cannot be read in 3 s is accepted with the length read so far', async () => {
  await using folder = await openTestFolder();
  const file = await folder.write('tiny-packets.webm', webmOfTinyPackets(60_000_000));
  const elapsedMs = machineTime();

  const probed = await probeAudio(file, options);

  assert.ok(probed.kind === 'audio' && probed.format === 'webm', JSON.stringify(probed));
  // A thousand packets have one millisecond.
  assert.ok(probed.durationMs < 8_572, `${probed.durationMs} ms`);
  const tookMs = elapsedMs();
  assert.ok(tookMs < 4_000, `${tookMs} ms`);
});

test('a WAV file without samples is rejected', async () => {
  await using folder = await openTestFolder();
  const file = await folder.write('upload', silenceWav(0));

  await assert.rejects(decodedSeconds(file), { name: 'AudioError', message: /no sound/ });
});

test('a length in the header that exceeds the size of the file is ignored', async () => {
  await using folder = await openTestFolder();
  const file = await folder.write('upload', wavWith(silenceWav(2), { dataBytes: 0xffffffff }));

  const probed = await probeAudio(file, options);

  assert.ok(probed.kind === 'audio' && Math.abs(probed.durationMs - 2000) < 10, JSON.stringify(probed));
  assert.equal(await decodedSeconds(file), 2);
});

test('a truncated MP3 is decoded up to its end', async () => {
  await using folder = await openTestFolder();
  const file = await folder.encode('upload.mp3', toneSpeech('a rather long sentence that is cut off'));
  await truncate(file, 10_000);

  const seconds = await decodedSeconds(file);

  assert.ok(seconds > 1 && seconds < 6, `${seconds} s`);
});

test('decoding of a decompression bomb stops at the limit', async () => {
  await using folder = await openTestFolder();
  const bomb = await folder.encode('bomb.flac', new Int16Array(1200 * SAMPLE_RATE));
  const { size } = await stat(bomb);

  await assert.rejects(decodedSeconds(bomb), { name: 'AudioError', message: /longer than the limit of 100 seconds/ });
  // The exact size depends on the version of the encoder.
  assert.ok(size * 100 < 1200 * SAMPLE_RATE * 2, `${size} bytes`);
});

test('audio of exactly the limit is accepted', async () => {
  await using folder = await openTestFolder();
  const file = await folder.write('upload', silenceWav(3));

  assert.equal(await decodedSeconds(file, { maxAudioSeconds: 3 }), 3);
  await assert.rejects(decodedSeconds(file, { maxAudioSeconds: 2.9999 }), AudioError);
});

test('an abort ends the decoding with the reason of the signal', async () => {
  await using folder = await openTestFolder();
  const file = await folder.write('upload', silenceWav(90));
  const controller = new AbortController();
  const reason = new Error('the lease was lost');

  const decoding = (async () => {
    for await (const _ of decodePcm(file, { ...options, signal: controller.signal })) controller.abort(reason);
  })();

  await assert.rejects(decoding, reason);
});

test('the error for a missing decoder names the command that installs it', async () => {
  await using folder = await openTestFolder();
  const file = await folder.write('upload', silenceWav(1));
  const { openSandboxed } = await import('./sandbox/bounded-process.ts');

  const opening = openSandboxed('ffmpeg-of-nowhere' as 'ffmpeg', [file], {
    tools: { folder: folder.path },
    memoryMaxBytes: 2 ** 30,
    cpuMaxSeconds: 1,
  });

  await assert.rejects(opening, /apt-get install ffmpeg/);
});

async function countRequests() {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
