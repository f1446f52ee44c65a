import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { SAMPLE_RATE } from '../../src/engines/engine.ts';
import { audioFilesIn } from '../fixtures/audio/audio-files.ts';
import { flacBomb } from '../fixtures/audio/bombs.ts';
import { openTestFolder, silenceWav, type TestFolder, TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { toneSpeech } from '../fixtures/audio/tone/speech.ts';
import { wavOf } from '../fixtures/audio/wav.ts';
import { descendantsOf } from '../fixtures/processes/process-list.ts';
import { randomFrom } from '../fixtures/random.ts';
import { openService, type TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

// Hostile files through the whole service: each gets the answer of the API contract, and nothing of it is kept.

const LIMITS = { MAX_AUDIO_SECONDS: '100', MAX_UPLOAD_BYTES: '3000000', AUDIO_RETENTION_HOURS: '0' };
// As in the test of an hour of audio: Node's own memory, and a margin.
const MAX_PROCESS_MB = 300;
const TEXT = 'a sentence that is long enough to be cut';

type Environment = { folder: TestFolder; dataDir: string; webPort: number };
type Answer = { status: number; type: string | null; job: { text: string; audio: { filename: string | null } } };
type Case = { what: string; name?: string; bytes: (environment: Environment) => Promise<Buffer> | Buffer; is: Outcome };
/** An error type, or the text that the transcript must match. */
type Outcome = 'unprocessable_audio' | 'too_large' | RegExp;

async function encoded({ folder }: Environment, name: string, pcm: Int16Array, ...args: string[]): Promise<Buffer> {
  return readFileSync(await folder.encode(name, pcm, ...args));
}

function wavWith(changes: { rateHz?: number; channels?: number; bits?: number; dataBytes?: number }): Buffer {
  const wav = toneWav(TEXT);
  if (changes.channels !== undefined) wav.writeUInt16LE(changes.channels, 22);
  if (changes.rateHz !== undefined) wav.writeUInt32LE(changes.rateHz, 24);
  if (changes.bits !== undefined) wav.writeUInt16LE(changes.bits, 34);
  if (changes.dataBytes !== undefined) wav.writeUInt32LE(changes.dataBytes, 40);
  return wav;
}

function hls(segment: string): Buffer {
  return Buffer.from(`#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n${segment}\n#EXT-X-ENDLIST\n`);
}

/** An ID3 tag of so many bytes, as some encoders put pictures into. */
function id3(bytes: number): Buffer {
  const size = [21, 14, 7, 0].map((shift) => (bytes >> shift) & 0x7f);
  return Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, ...size]), Buffer.alloc(bytes)]);
}

const CASES: Case[] = [
  { what: 'an empty file', bytes: () => Buffer.alloc(0), is: 'unprocessable_audio' },
  { what: 'a minute of digital zero', bytes: () => silenceWav(60), is: /^$/ },
  { what: 'a minute of faint noise', bytes: () => Buffer.from(wavOf(faintNoise(60))), is: /^$/ },
  { what: 'a single byte', bytes: () => Buffer.from([0]), is: 'unprocessable_audio' },
  { what: 'a wav header and nothing more', bytes: () => silenceWav(0), is: 'unprocessable_audio' },
  { what: 'zeros', bytes: () => Buffer.alloc(100_000), is: 'unprocessable_audio' },
  { what: 'noise', bytes: () => noise(100_000), is: 'unprocessable_audio' },
  { what: 'a truncated wav file', bytes: () => toneWav(TEXT).subarray(0, 60_000), is: /^a senten/ },
  {
    what: 'a truncated mp3 file',
    bytes: async (environment) =>
      (await encoded(environment, 'cut.mp3', toneSpeech(TEXT), '-b:a', '96k')).subarray(0, 36_000),
    is: /^a sent/,
  },
  {
    what: 'an m4a file without its index',
    bytes: async (environment) => (await encoded(environment, 'cut.m4a', toneSpeech(TEXT))).subarray(0, 12_000),
    is: 'unprocessable_audio',
  },
  {
    what: 'an m4a file whose sound is overwritten at its start',
    bytes: async (environment) => (await encoded(environment, 'holes.m4a', toneSpeech(TEXT))).fill(0x55, 100, 20_000),
    // What can still be decoded.
    is: /long enough to be cut$/,
  },
  {
    what: 'an m4a file whose sound is all overwritten',
    bytes: async (environment) => {
      const file = await encoded(environment, 'hole.m4a', toneSpeech(TEXT));
      return file.fill(0x55, 100, file.indexOf('moov') - 8);
    },
    is: 'unprocessable_audio',
  },
  {
    what: 'sound past the limit',
    bytes: (environment) => encoded(environment, 'long.mp3', new Int16Array(101 * SAMPLE_RATE)),
    is: 'unprocessable_audio',
  },
  { what: 'a header that claims 4 GB', bytes: () => wavWith({ dataBytes: 0xffffffff }), is: new RegExp(`^${TEXT}$`) },
  { what: 'a rate of 0 Hz', bytes: () => wavWith({ rateHz: 0 }), is: 'unprocessable_audio' },
  { what: 'a rate of 1 Hz', bytes: () => wavWith({ rateHz: 1 }), is: 'unprocessable_audio' },
  { what: 'a rate of 2 GHz', bytes: () => wavWith({ rateHz: 2e9 }), is: 'unprocessable_audio' },
  { what: 'no channels', bytes: () => wavWith({ channels: 0 }), is: 'unprocessable_audio' },
  { what: '65,535 channels', bytes: () => wavWith({ channels: 65_535 }), is: 'unprocessable_audio' },
  { what: 'samples of 65,535 bits', bytes: () => wavWith({ bits: 65_535 }), is: 'unprocessable_audio' },
  {
    what: 'a small file that grows past the limit',
    name: 'bomb.flac',
    bytes: (environment) => encoded(environment, 'bomb.flac', new Int16Array(1200 * SAMPLE_RATE)),
    is: 'unprocessable_audio',
  },
  {
    what: 'a small file that grows past the limit and does not say so',
    bytes: (environment) =>
      encoded(environment, 'live.webm', new Int16Array(400 * SAMPLE_RATE), '-f', 'webm', '-live', '1'),
    is: 'unprocessable_audio',
  },
  {
    what: 'thirty-six hours of silence in 235 KB',
    bytes: () => flacBomb(36, { tellsLength: true }),
    is: 'unprocessable_audio',
  },
  {
    what: 'thirty-six hours of silence that do not say how long they are',
    bytes: () => flacBomb(36, { tellsLength: false }),
    is: 'unprocessable_audio',
  },
  {
    what: 'an m4a file whose headers claim years',
    bytes: async (environment) => claimYears(await encoded(environment, 'years.m4a', toneSpeech(TEXT)), LENGTHS),
    is: new RegExp(`^${TEXT}$`),
  },
  {
    what: 'an m4a file whose samples claim years',
    bytes: async (environment) => claimYears(await encoded(environment, 'slow.m4a', toneSpeech(TEXT)), SAMPLE_LENGTHS),
    is: 'unprocessable_audio',
  },
  {
    what: 'a picture of 36 megapixels beside the sound',
    bytes: (environment) =>
      encoded(environment, 'poster.mkv', toneSpeech(TEXT), ...picture('color=c=blue:s=6000x6000:d=1:r=1', 'png')),
    is: new RegExp(`^${TEXT}$`),
  },
  {
    what: 'a film without sound',
    bytes: (environment) =>
      encoded(environment, 'mute.mp4', toneSpeech(TEXT), ...picture('color=c=blue:s=64x64:d=1:r=10', 'mpeg4'), '-an'),
    is: 'unprocessable_audio',
  },
  {
    what: 'an mp3 file behind two megabytes of tag',
    bytes: async (environment) =>
      Buffer.concat([id3(2_000_000), await encoded(environment, 'tag.mp3', toneSpeech(TEXT), '-b:a', '96k')]),
    is: new RegExp(`^${TEXT}$`),
  },
  { what: 'a file over the limit', bytes: () => Buffer.alloc(3_000_001), is: 'too_large' },
  {
    what: 'a playlist of a secret',
    bytes: ({ dataDir }) => hls(`file://${dataDir}/admin-token`),
    is: 'unprocessable_audio',
  },
  {
    what: 'a playlist of a recording',
    bytes: ({ folder }) => hls(path.join(folder.path, 'secret.ts')),
    is: 'unprocessable_audio',
  },
  {
    what: 'a playlist of a web address',
    bytes: ({ webPort }) => hls(`http://127.0.0.1:${webPort}/`),
    is: 'unprocessable_audio',
  },
  {
    what: 'a playlist behind an mp3 tag',
    bytes: ({ webPort }) => Buffer.concat([id3(100), hls(`http://127.0.0.1:${webPort}/`)]),
    is: 'unprocessable_audio',
  },
  {
    what: 'a concat script',
    bytes: ({ folder }) => Buffer.from(`ffconcat version 1.0\nfile '${folder.path}/secret.ts'\n`),
    is: 'unprocessable_audio',
  },
  {
    what: 'a session description',
    bytes: ({ webPort }) => Buffer.from(`v=0\nc=IN IP4 127.0.0.1\nm=audio ${webPort} RTP/AVP 0\n`),
    is: 'unprocessable_audio',
  },
  {
    what: 'a DASH manifest',
    bytes: ({ webPort }) =>
      Buffer.from(`<?xml version="1.0"?><MPD type="static"><BaseURL>http://127.0.0.1:${webPort}/</BaseURL></MPD>`),
    is: 'unprocessable_audio',
  },
  { what: 'an archive', bytes: () => gzipSync(toneWav(TEXT)), is: 'unprocessable_audio' },
  { what: 'an archive of zeros', bytes: () => gzipSync(Buffer.alloc(100_000_000)), is: 'unprocessable_audio' },
  { what: 'a zip archive of a recording', bytes: () => zipOf('a.wav', toneWav(TEXT)), is: 'unprocessable_audio' },
  {
    what: 'a picture that names a file',
    bytes: ({ dataDir }) => Buffer.from(`<svg xmlns="x"><image href="file://${dataDir}/admin-token"/></svg>`),
    is: 'unprocessable_audio',
  },
  { what: 'a shell script', bytes: () => Buffer.from('#!/bin/sh\ntouch /tmp/owned\n'), is: 'unprocessable_audio' },
  {
    what: 'subtitles',
    bytes: () => Buffer.from('1\n00:00:00,000 --> 00:00:02,000\nhello\n'),
    is: 'unprocessable_audio',
  },
];

/** Boxes of an m4a file, and how far behind its name each has a length in ticks. */
const LENGTHS: [string, number][] = [
  ['mvhd', 20],
  ['mdhd', 20],
  ['tkhd', 24],
];
const SAMPLE_LENGTHS: [string, number][] = [['stts', 16]];

function claimYears(m4a: Buffer, places: [string, number][]): Buffer {
  for (const [box, offset] of places) m4a.writeUInt32BE(0x7ffffffe, m4a.indexOf(box) + offset);
  return m4a;
}

/** One stored file: without compression the bytes of the sound lie there as they are. */
function zipOf(name: string, bytes: Buffer): Buffer {
  const head = Buffer.alloc(30);
  head.write('PK\u0003\u0004');
  head.writeUInt16LE(20, 4);
  head.writeUInt32LE(bytes.length, 18);
  head.writeUInt32LE(bytes.length, 22);
  head.writeUInt16LE(name.length, 26);
  return Buffer.concat([head, Buffer.from(name), bytes]);
}

function picture(source: string, codec: string): string[] {
  return ['-f', 'lavfi', '-i', source, '-map', '0:a', '-map', '1:v', '-c:v', codec];
}

/** Sixty steps either way, which is 54 dB under full scale: what a recorder makes of a quiet fixture. */
function faintNoise(seconds: number): Int16Array {
  const random = randomFrom(11);
  return Int16Array.from({ length: seconds * SAMPLE_RATE }, () => random.next() * 120 - 60);
}

function noise(bytes: number): Buffer {
  const random = randomFrom(20_261_121);
  return Buffer.from(Array.from({ length: bytes }, () => random.integer(256)));
}

const NAMES: { what: string; sent: string; kept: string | null }[] = [
  { what: 'a path', sent: '../../../../etc/cron.d/a.mp3', kept: 'a.mp3' },
  { what: 'a path of Windows', sent: 'C:\\\\temp\\\\a.mp3', kept: 'a.mp3' },
  { what: 'two dots', sent: '..', kept: null },
  { what: 'control characters', sent: 'a\u0007\u001b[31m.mp3', kept: 'a[31m.mp3' },
  { what: 'marks that turn the writing', sent: 'a\u202e3pm.exe', kept: 'a3pm.exe' },
  { what: 'ten kilobytes', sent: `${'x'.repeat(7000)}.mp3`, kept: 'x'.repeat(255) },
  { what: 'HTML', sent: '<img src=x onerror=alert(1)>.mp3', kept: '<img src=x onerror=alert(1)>.mp3' },
  { what: 'a shell command', sent: '$(touch owned);`id`.mp3', kept: '$(touch owned);`id`.mp3' },
  { what: 'options of a program', sent: '-i -y', kept: '-i -y' },
];

test('hostile media', async (t) => {
  await using folder = await openTestFolder();
  await using web = await countConnections();
  const temporary = path.join(folder.path, 'temporary');
  mkdirSync(temporary);
  await using service = await openService({
    ...LIMITS,
    TMPDIR: temporary,
    ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
    RATE_LIMIT_TRANSCRIBE: 'off',
    RATE_LIMIT_DEFAULT: 'off',
    MAX_UPLOADS_PER_ACCOUNT: '100',
  });
  const { key } = await service.account();
  const environment: Environment = { folder, dataDir: service.dataDir, webPort: web.port };
  await folder.encode('secret.ts', toneSpeech('a secret of another tenant'), '-c:a', 'mp2');
  const filesBefore = filesOf(service);

  let slowest = { ms: 0, what: '' };
  for (const { what, name = 'a.mp3', bytes, is } of CASES) {
    await t.test(`${what} ends in ${is}`, async () => {
      const sent = await bytes(environment);
      const startedAtMs = performance.now();
      const answer = await transcribe(service, key, sent, name);
      const ms = Math.round(performance.now() - startedAtMs);
      if (ms > slowest.ms) slowest = { ms, what };

      assert.deepEqual(answer.type, typeof is === 'string' ? is : null, JSON.stringify(answer));
      if (is instanceof RegExp) assert.match(answer.job.text, is);
      await until('the audio to be erased', () => audioFiles(service).length === 0);
    });
  }

  for (const { what, sent, kept } of NAMES) {
    await t.test(`a file name of ${what} is a name and nothing more`, async () => {
      const answer = await transcribe(service, key, toneWav('hi'), sent);

      assert.equal(answer.status, 200);
      assert.equal(answer.job.audio.filename, kept);
    });
  }

  await t.test('damaged files end in a text or a refusal, never in a fault of ours', async () => {
    const random = randomFrom(7);
    const containers = ['x.mp3', 'x.m4a', 'x.ogg', 'x.flac', 'x.webm', 'x.wav'];
    const whole = await Promise.all(containers.map((name) => encoded(environment, name, toneSpeech(TEXT))));
    const damaged = Array.from({ length: 60 }, () => damage(random.pick(whole), random));

    const answers = await Promise.all(damaged.map((bytes) => transcribe(service, key, bytes, 'a.mp3')));

    const types = new Set(answers.map(({ type }) => type));
    assert.deepEqual(types, new Set([null, 'unprocessable_audio']));
  });

  await t.test('an upload that breaks off leaves nothing', async () => {
    const socket = net.connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
    const head = `POST /v1/transcribe HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\ncontent-length: 1000000\r\n`;
    const part = '--xx\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n';
    socket.write(`${head}content-type: multipart/form-data; boundary=xx\r\n\r\n${part}${'x'.repeat(400_000)}`);
    await until('the upload to begin', () => audioFiles(service).length === 1);

    socket.destroy();

    await until('the file to be gone', () => audioFiles(service).length === 0);
  });

  await t.test('the service is well, asked nobody, and left nothing behind', async () => {
    const after = await transcribe(service, key, toneWav('still here'), 'a.wav');

    assert.equal(after.job.text, 'still here');
    assert.equal(web.connections(), 0);
    await until('the last audio to be erased', () => audioFiles(service).length === 0);
    assert.deepEqual(filesOf(service), filesBefore);
    assert.deepEqual(readdirSync(temporary), []);
    assert.doesNotMatch(service.logText(), /"level":"error"|secret of another tenant|"status":500/);
  });

  await t.test('no decoder is left running, and no process grew with what it was sent', () => {
    const processes = descendantsOf(service.pid);
    const peaksMb = ['http', 'transcriber'].map((role) => {
      const { pid } = processes.find(({ arguments: words }) => words.includes(role))!;
      return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
    });

    const decoders = processes.filter(({ arguments: words }) => /ff(mpeg|probe)/.test(words.join(' ')));
    assert.deepEqual(decoders, []);
    assert.ok(Math.max(...peaksMb) < MAX_PROCESS_MB, `${peaksMb} MB`);
    t.diagnostic(
      `slowest: ${slowest.ms} ms, ${slowest.what}; http and transcriber at most ${peaksMb.map(Math.round)} MB`,
    );
  });
});

async function transcribe(service: TestService, key: string, bytes: Buffer, name: string): Promise<Answer> {
  const disposition = `Content-Disposition: form-data; name="file"; filename="${name}"`;
  const body = Buffer.concat([Buffer.from(`--xx\r\n${disposition}\r\n\r\n`), bytes, Buffer.from('\r\n--xx--\r\n')]);
  const headers = { 'x-api-key': key, 'content-type': 'multipart/form-data; boundary=xx' };
  const answer = await fetch(`${service.baseUrl}/v1/transcribe`, { method: 'POST', headers, body });
  // biome-ignore lint/suspicious/noExplicitAny: an answer of either shape
  const json = (await answer.json()) as any;
  return { status: answer.status, type: json.error?.type ?? null, job: json };
}

/** Some bytes overwritten, some cut out, the end sometimes missing. */
function damage(whole: Buffer, random: ReturnType<typeof randomFrom>): Buffer {
  const bytes = Buffer.from(whole);
  for (let hit = 0; hit < 30; hit += 1) bytes[random.integer(random.pick([200, bytes.length]))] = random.integer(256);
  const from = random.integer(bytes.length);
  const rest = Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + random.integer(500))]);
  return random.integer(3) === 0 ? rest.subarray(0, random.integer(rest.length)) : rest;
}

function audioFiles({ dataDir }: TestService): string[] {
  return audioFilesIn(path.join(dataDir, 'audio'));
}

/** Everything in the data directory but the database. */
function filesOf({ dataDir }: TestService): string[] {
  const names = readdirSync(dataDir, { recursive: true }) as string[];
  return names.filter((name) => !name.startsWith('database')).sort();
}

async function countConnections() {
  let connections = 0;
  const server = createServer((_, response) => response.end()).on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
