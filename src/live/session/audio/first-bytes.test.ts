import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { openTestFolder, stereoWav } from '../../../../test/fixtures/audio/test-audio.ts';
import { toneSpeech } from '../../../../test/fixtures/audio/tone/speech.ts';
import { wavOf } from '../../../../test/fixtures/audio/wav.ts';
import { randomFrom } from '../../../../test/fixtures/random.ts';
import { wavHeaderOf } from '../../../engines/wav-header.ts';
import { LIVE_ENCODINGS, type LiveFormat } from '../../../rules/live/encoding.ts';
import { FirstBytes } from './first-bytes.ts';

const FORMAT = { encoding: 'pcm_s16le', sampleRate: 16_000 } as const;
const SPEECH = toneSpeech('hello world');

/** What comes of a stream that is sent in messages of this size. */
function send(stream: Uint8Array, { messageBytes = stream.length, format = FORMAT as LiveFormat } = {}) {
  const first = new FirstBytes(format);
  const taken: Uint8Array[] = [];
  for (let at = 0; at < stream.length; at += messageBytes) {
    const judged = first.push(stream.subarray(at, at + messageBytes));
    if ('refusal' in judged) return judged.refusal;
    taken.push(judged.bytes);
  }
  return Buffer.concat(taken);
}

const FILES: [name: string, known: RegExp, ...encoding: string[]][] = [
  ['a.webm', /as a WebM or Matroska file does/],
  ['a.mka', /as a WebM or Matroska file does/],
  ['a.ogg', /as an Ogg file does/],
  ['a.opus', /as an Ogg file does/],
  ['a.flac', /as a FLAC file does/],
  ['a.m4a', /as an MP4 file does/],
  ['a.mp4', /as an MP4 file does/, '-movflags', 'frag_keyframe+empty_moov'],
  ['a.mp3', /as an MP3 file does/],
  ['b.mp3', /as an MP3 file does/, '-id3v2_version', '0', '-b:a', '320k', '-ar', '32000'],
  ['c.mp3', /as an MP3 file does/, '-id3v2_version', '0', '-b:a', '32k', '-ar', '16000'],
  ['d.mp3', /as an MP3 file does/, '-id3v2_version', '0', '-b:a', '16k', '-ar', '8000'],
  ['a.aac', /as an AAC file does/],
  ['a.aiff', /as an AIFF file does/],
  ['a.caf', /as a CAF file does/],
  ['a.au', /as an AU file does/],
  ['a.w64', /as a Wave64 file does/],
  ['a.wma', /as a WMA file does/],
  ['rf64.wav', /as a WAV file of another kind does/, '-rf64', 'always'],
  ['rate.wav', /as a WAV file \(16-bit PCM, 44100 Hz, one channel\) does/, '-ar', '44100'],
  ['float.wav', /as a WAV file \(32-bit float, 16000 Hz, one channel\) does/, '-c:a', 'pcm_f32le'],
  ['adpcm.wav', /as a WAV file \(4-bit encoding 17, 16000 Hz, one channel\) does/, '-c:a', 'adpcm_ima_wav'],
];

for (const [name, known, ...encoding] of FILES) {
  test(`${name} sent as samples is refused, in messages of every size`, async () => {
    await using folder = await openTestFolder();
    const file = await readFile(await folder.encode(name, SPEECH, ...encoding));

    for (const messageBytes of [7, 640, 3_200, file.length]) {
      const refusal = send(file, { messageBytes });
      assert.ok(typeof refusal === 'string', `taken in messages of ${messageBytes}`);
      assert.match(refusal, known);
      assert.match(refusal, /takes samples without a container: 16-bit PCM, little-endian, 16000 Hz, one channel/);
    }
  });
}

test('a WAV file of two channels is refused', () => {
  assert.match(String(send(stereoWav(SPEECH))), /16-bit PCM, 16000 Hz, 2 channels/);
});

const TAGS = { pcm_s16le: [1, 2, 0], alaw: [6, 1, 0xd5], mulaw: [7, 1, 0xff] } as const;

for (const encoding of LIVE_ENCODINGS) {
  test(`the header of a WAV file of ${encoding} is silence where it says the session's format`, () => {
    const [tag, sampleBytes, silence] = TAGS[encoding];
    const samples = Buffer.alloc(8_000, 0x11);
    const file = Buffer.concat([wavHeaderOf({ tag, sampleRate: 8_000, sampleBytes }, samples.length), samples]);

    const taken = send(file, { format: { encoding, sampleRate: 8_000 } });

    assert.deepEqual(taken, Buffer.concat([Buffer.alloc(44, silence), samples]));
  });
}

test('a WAV header that comes in parts is taken, and its samples are not changed', () => {
  const file = wavOf(SPEECH);

  const taken = send(file, { messageBytes: 10 });

  assert.ok(typeof taken !== 'string');
  assert.deepEqual(taken.subarray(44), file.subarray(44));
});

test('samples are taken as they are: silence, speech, noise, every constant, and every encoding', () => {
  const random = randomFrom(7);
  const samples = new Uint8Array(SPEECH.buffer);
  const noise = Buffer.from(Array.from({ length: 2 ** 20 }, () => random.integer(256)));
  // Of a quiet line: μ-law near zero is 0xff, 0xfe, 0x7f and 0x7e, which are what the frames of MP3 begin with.
  const quiet = Buffer.from(Array.from({ length: 2 ** 20 }, () => 0xff ^ random.integer(8) ^ random.pick([0, 0x80])));
  const streams = [samples];
  for (let at = 0; at < noise.length; at += 4_096) {
    streams.push(noise.subarray(at, at + 4_096), quiet.subarray(at, at + 4_096));
  }
  for (let value = 0; value < 2 ** 16; value++) streams.push(new Uint8Array(new Uint16Array(64).fill(value).buffer));

  for (const encoding of LIVE_ENCODINGS) {
    for (const stream of streams) {
      const taken = send(stream, { format: { encoding, sampleRate: 8_000 } });
      assert.ok(
        typeof taken !== 'string' && taken.equals(stream),
        `changed: ${Buffer.from(stream.subarray(0, 8)).toString('hex')}`,
      );
    }
  }
});
