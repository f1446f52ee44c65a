import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { channelsWav, openTestFolder, type TestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { wavOf } from '../../../test/fixtures/audio/wav.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { type Pcm, SAMPLE_RATE } from '../../engines/engine.ts';
import { findProgram, toolEnvironment } from '../../platform/tools.ts';
import { probeAudio } from '../media/probe.ts';
import { decodePcm } from './decode.ts';

// Files as recorders, telephones and browsers make them, and what has to be heard of each: bursts of a tone, each at
// its time. The table is what the decoder of this machine gives; its version stands in the name of the test.

const BURST_SECONDS = 0.5;
/** A file of one burst in its first half, and one of two. */
const ONE = bursts(2, [0.5]);
const TWO = bursts(3, [0.5, 2]);

/**
 * 23 s of AMR-NB with discontinuous transmission: speech from 0 to 3 s and from 12 s on, in pauses that are not sent.
 */
const VOICEMAIL = fileURLToPath(new URL('../../../test/fixtures/audio/pauses.amr', import.meta.url));

/** Two bursts in GSM 06.10, 33 bytes for each 20 ms: ffmpeg has an encoder in some builds only. */
const TELEPHONE = fileURLToPath(new URL('../../../test/fixtures/audio/telephone.gsm', import.meta.url));

/** Silence with bursts of a tone at these times. */
function bursts(seconds: number, starts: number[], level = 12_000): Pcm {
  const pcm = new Int16Array(seconds * SAMPLE_RATE);
  for (const start of starts) {
    for (let at = 0; at < BURST_SECONDS * SAMPLE_RATE; at += 1) {
      pcm[Math.round(start * SAMPLE_RATE) + at] = Math.round(level * Math.sin(at / 5));
    }
  }
  return pcm;
}

/** What ffmpeg writes into a pipe. */
function encodeIntoPipe(args: string[]): Buffer {
  const program = findProgram(TEST_TOOLS, 'ffmpeg') ?? 'ffmpeg';
  return execFileSync(program, ['-v', 'error', ...args], { env: toolEnvironment(TEST_TOOLS), maxBuffer: 2 ** 23 });
}

const version = encodeIntoPipe(['-version']).toString().split(' ')[2];

type Heard = { seconds: number; starts: number[] };
type Row = {
  name: string;
  make(folder: TestFolder): Promise<string>;
  seconds: number;
  starts: number[];
  within?: number;
};

/** What is decoded of a file: its length, and where the bursts begin. */
async function heard(file: string): Promise<Heard & { unreadBytes: number }> {
  const probed = await probeAudio(file, { tools: TEST_TOOLS, maxAudioSeconds: 100 });
  assert.ok(probed.kind === 'audio', JSON.stringify(probed));
  const { codec, channels } = probed.tracks[0]!;
  let unreadBytes = 0;
  const chunks = decodePcm(file, {
    tools: TEST_TOOLS,
    maxAudioSeconds: 100,
    probed: { format: probed.format, codec, channels, durationMs: probed.durationMs },
    onUnread: (bytes) => {
      unreadBytes = bytes;
    },
  });
  const samples = (await Array.fromAsync(chunks)).flatMap((chunk) => [...chunk]);
  return { seconds: samples.length / SAMPLE_RATE, starts: startsIn(samples), unreadBytes };
}

function startsIn(samples: number[]): number[] {
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const starts: number[] = [];
  let quietSince = 0;
  for (const [at, sample] of samples.entries()) {
    if (Math.abs(sample) < Math.max(300, loudest / 4)) continue;
    if (at - quietSince > 0.2 * SAMPLE_RATE || starts.length === 0) starts.push(at / SAMPLE_RATE);
    quietSince = at;
  }
  return starts;
}

async function joined(folder: TestFolder, ...files: string[]): Promise<string> {
  const parts = await Promise.all(files.map((file) => readFile(file)));
  return await folder.write(`joined-${files[0]!.split('/').at(-1)}`, Buffer.concat(parts));
}

/** Two files in a format, one after the other. */
function joinedRow(name: string, ...encode: string[]): Row {
  const make = async (folder: TestFolder) =>
    await joined(
      folder,
      await folder.encode(`one-${name}`, ONE, ...encode),
      await folder.encode(`two-${name}`, TWO, ...encode),
    );
  return { name: `joined ${name}`, make, seconds: 5, starts: [0.5, 2.5, 4], within: 0.2 };
}

const JOINED: Row[] = [
  joinedRow('16k.wav'),
  joinedRow('44k.wav', '-ar', '44100', '-ac', '2'),
  joinedRow('24bit.wav', '-c:a', 'pcm_s24le'),
  joinedRow('alaw.wav', '-ar', '8000', '-c:a', 'pcm_alaw'),
  joinedRow('rf64.wav', '-rf64', 'always'),
  joinedRow('joined.w64', '-ar', '44100'),
  joinedRow('joined.aiff'),
  joinedRow('joined.caf'),
  joinedRow('joined.au'),
  joinedRow('joined.m4a', '-c:a', 'aac'),
  joinedRow('alac.m4a', '-c:a', 'alac'),
  joinedRow('joined.mov', '-c:a', 'pcm_s16le'),
  joinedRow('joined.3gp', '-c:a', 'aac'),
  joinedRow('joined.wma', '-c:a', 'wmav2'),
  joinedRow('joined.ogg', '-c:a', 'libopus'),
  joinedRow('vorbis.ogg', '-c:a', 'libvorbis'),
  joinedRow('joined.flac'),
  joinedRow('joined.webm', '-c:a', 'libopus'),
  joinedRow('joined.mka', '-c:a', 'libvorbis'),
  joinedRow('joined.mp3'),
  joinedRow('joined.aac'),
  joinedRow('joined.ac3'),
  {
    name: 'a WAV file of 16 kHz and one of 48 kHz',
    make: async (folder) =>
      await joined(folder, await folder.encode('a.wav', ONE), await folder.encode('b.wav', TWO, '-ar', '48000')),
    seconds: 5,
    starts: [0.5, 2.5, 4],
  },
  {
    name: 'a WAV file and a FLAC file',
    make: async (folder) => await joined(folder, await folder.encode('a.wav', ONE), await folder.encode('b.flac', TWO)),
    seconds: 5,
    starts: [0.5, 2.5, 4],
  },
  {
    name: 'a WAV file whose header is older than its end',
    make: async (folder) => await folder.write('old.wav', withDataBytes(wavOf(TWO), SAMPLE_RATE * 2)),
    seconds: 3,
    starts: [0.5, 2],
  },
  {
    name: 'a stereo WAV file whose header is older than its end',
    make: async (folder) =>
      await folder.write('old-stereo.wav', withDataBytes(channelsWav([TWO, TWO]), SAMPLE_RATE * 4)),
    seconds: 3,
    starts: [0.5, 2],
  },
  {
    name: 'a WAV file with long chunks after its samples',
    make: async (folder) => await folder.write('chunks.wav', Buffer.concat([wavOf(TWO), chunk('LIST', 9000)])),
    seconds: 3,
    starts: [0.5, 2],
  },
];

function withDataBytes(file: Buffer, bytes: number): Buffer {
  file.writeUInt32LE(bytes, 40);
  return file;
}

function chunk(name: string, bytes: number): Buffer {
  const head = Buffer.alloc(8);
  head.write(name);
  head.writeUInt32LE(bytes, 4);
  return Buffer.concat([head, Buffer.alloc(bytes, 1)]);
}

/** A stream that goes on at another sample rate. */
function rateRow(name: string, before: number, after: number): Row {
  const rate = (hertz: number) => ['-ar', String(hertz)];
  const make = async (folder: TestFolder) =>
    await joined(
      folder,
      await folder.encode(`before-${before}-${name}`, ONE, ...rate(before), '-write_xing', '0'),
      await folder.encode(`after-${after}-${name}`, TWO, ...rate(after), '-ac', '2', '-write_xing', '0'),
    );
  return {
    name: `${name} of ${before} Hz, then of ${after} Hz`,
    make,
    seconds: 5,
    starts: [0.5, 2.5, 4],
    within: 0.25,
  };
}

const RATES = [
  rateRow('rate.aac', 16_000, 44_100),
  rateRow('rate.aac', 48_000, 22_050),
  rateRow('rate.mp3', 16_000, 44_100),
  rateRow('rate.mp3', 48_000, 22_050),
];

/** A WAV file of so many channels without names, with sound on one of them. */
function channelRow(channels: number, sounding: number): Row {
  const silent = new Int16Array(TWO.length);
  const make = async (folder: TestFolder) =>
    await folder.write(
      'channels.wav',
      channelsWav(Array.from({ length: channels }, (_, channel) => (channel === sounding ? TWO : silent))),
    );
  return { name: `channel ${sounding + 1} of ${channels} without names`, make, seconds: 3, starts: [0.5, 2] };
}

const CHANNELS = Array.from({ length: 8 }, (_, index) => index + 1).flatMap((channels) =>
  [...new Set([0, Math.min(3, channels - 1), channels - 1])].map((sounding) => channelRow(channels, sounding)),
);

const ENDS: Row[] = [
  ...['m4a', 'mp4', 'mov', '3gp'].map((format) => ({
    name: `AAC in ${format}, to the millisecond`,
    make: async (folder: TestFolder) => await folder.encode(`end.${format}`, TWO, '-c:a', 'aac'),
    seconds: 3,
    starts: [0.5, 2],
  })),
  ...[44_100, 48_000, 8000].map((hertz) => ({
    name: `AAC of ${hertz} Hz, to the millisecond`,
    make: async (folder: TestFolder) => await folder.encode(`${hertz}.m4a`, TWO, '-c:a', 'aac', '-ar', `${hertz}`),
    seconds: 3,
    starts: [0.5, 2],
  })),
  {
    name: 'floating point, 24 dB above full scale',
    make: async (folder: TestFolder) =>
      await folder.encode('hot.wav', TWO, '-af', 'aformat=flt,volume=16:precision=float', '-c:a', 'pcm_f32le'),
    seconds: 3,
    starts: [0.5, 2],
  },
  {
    name: 'floating point in the scale of 16 bits',
    make: async (folder: TestFolder) =>
      await folder.encode('scale.wav', TWO, '-af', 'aformat=flt,volume=32768:precision=float', '-c:a', 'pcm_f32le'),
    seconds: 3,
    starts: [0.5, 2],
  },
];

/** A file whose header has no sizes, as an encoder writes it into a pipe. */
function pipedRow(format: string, codec: string, patch: (file: Buffer) => void = () => {}): Row {
  const make = async (folder: TestFolder) => {
    const input = await folder.write('piped.wav', channelsWav([TWO, TWO, TWO]));
    const file = encodeIntoPipe(['-i', input, '-ar', '44100', '-ac', '3', '-c:a', codec, '-f', format, '-']);
    patch(file);
    return await folder.write(`piped.${format}`, file);
  };
  return { name: `${codec} in ${format} from a pipe`, make, seconds: 3, starts: [0.5, 2] };
}

/** The sizes of AIFF in its head and in that of its samples, and its number of frames. */
function withSizes(file: Buffer, sizes: { form: number; frames: number; samples: number }): void {
  file.writeUInt32BE(sizes.form, 4);
  file.writeUInt32BE(sizes.frames, file.indexOf('COMM') + 10);
  file.writeUInt32BE(sizes.samples, file.indexOf('SSND') + 4);
}

const UNSIZED = 0xff_ff_ff_ff;
const PIPED: Row[] = [
  ...[
    'pcm_s8',
    'pcm_s16be',
    'pcm_s16le',
    'pcm_s24be',
    'pcm_s32be',
    'pcm_f32be',
    'pcm_f64be',
    'pcm_alaw',
    'pcm_mulaw',
  ].map((codec) => pipedRow('aiff', codec)),
  ...['pcm_u8', 'pcm_s16le', 'pcm_s24le', 'pcm_s32le', 'pcm_f32le', 'pcm_f64le', 'pcm_alaw', 'pcm_mulaw'].map((codec) =>
    pipedRow('w64', codec),
  ),
  {
    ...pipedRow('aiff', 'pcm_s16be', (file) => withSizes(file, { form: UNSIZED, frames: UNSIZED, samples: UNSIZED })),
    name: 'AIFF with the largest number for each size',
  },
  {
    ...pipedRow('aiff', 'pcm_s16be', (file) => withSizes(file, { form: file.length - 8, frames: 0, samples: 0 })),
    name: 'AIFF without the size of its samples',
  },
  ...['caf', 'au'].map((format) => pipedRow(format, 'pcm_s16be')),
  {
    name: 'GSM of a telephone system, without a container',
    make: async () => TELEPHONE,
    seconds: 3,
    starts: [0.5, 2],
    within: 0.03,
  },
];

for (const row of [...JOINED, ...RATES, ...CHANNELS, ...ENDS, ...PIPED]) {
  test(`${row.name}, decoded by ffmpeg ${version}`, async () => {
    await using folder = await openTestFolder();
    const { seconds, starts, unreadBytes } = await heard(await row.make(folder));

    const { within = 0.001 } = row;
    const isNear = (actual: number, expected: number, most: number) => Math.abs(actual - expected) <= most;
    const found = JSON.stringify({ seconds, starts });
    assert.equal(unreadBytes, 0);
    assert.ok(isNear(seconds, row.seconds, within), found);
    assert.equal(starts.length, row.starts.length, found);
    for (const [at, start] of starts.entries()) assert.ok(isNear(start, row.starts[at]!, within + 0.03), found);
  });
}

test('a voicemail of AMR, three quarters of which are pauses, is decoded to its end with its words at their times', async () => {
  const { seconds, starts } = await heard(VOICEMAIL);

  assert.equal(seconds, 23);
  for (const [from, to] of [
    [0, 3],
    [11.9, 15],
  ] as const) {
    assert.ok(
      starts.some((start) => start > from && start < to),
      `${from} to ${to}: ${starts}`,
    );
  }
  assert.ok(!starts.some((start) => (start > 3.2 && start < 11.9) || start > 15.3), `${starts}`);
});

test('what follows the audio and cannot be read is told in bytes, and the audio is heard', async () => {
  await using folder = await openTestFolder();
  const file = await folder.encode('rest.m4a', TWO, '-c:a', 'aac');
  const rest = Buffer.alloc(20_000, 'no audio, and no box of MP4; ');

  const { starts, unreadBytes } = await heard(
    await folder.write('rest-after.m4a', Buffer.concat([await readFile(file), rest])),
  );

  assert.deepEqual([starts.length, unreadBytes], [2, rest.length]);
});

test('a second recording that is damaged is told in bytes, and the first is heard', async () => {
  await using folder = await openTestFolder();
  const damaged = Buffer.concat([wavOf(TWO).subarray(0, 12), chunk('fmt ', 16), chunk('data', 90_000)]);

  const { starts, unreadBytes } = await heard(await folder.write('damaged.wav', Buffer.concat([wavOf(TWO), damaged])));

  assert.deepEqual([starts.length, unreadBytes], [2, damaged.length]);
});
