import assert from 'node:assert/strict';
import test from 'node:test';
import { wavOf } from '../../../test/fixtures/audio/wav.ts';
import { findRecordings, type Recordings } from './recordings.ts';

const SAMPLES = Int16Array.from({ length: 8000 }, (_, at) => Math.round(9000 * Math.sin(at / 7)));
const WAV = wavOf(SAMPLES);
const TAG = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125)]);
const SOUND = WAV.subarray(44);

async function recordingsOf(...parts: Buffer[]): Promise<Recordings> {
  const bytes = Buffer.concat(parts);
  const read = async (at: number, length: number) => bytes.subarray(at, at + length);
  return await findRecordings({ sizeBytes: bytes.length, read });
}

/** A chunk of WAV or AIFF, or a box of MP4, by the order of its head. */
const chunk = (name: string, content: Buffer) => Buffer.concat([Buffer.from(name), size32LE(content.length), content]);
const box = (name: string, content: Buffer) =>
  Buffer.concat([size32BE(8 + content.length), Buffer.from(name), content]);
const asfObject = (id: Buffer, content: Buffer) => Buffer.concat([id, size64LE(24 + content.length), content]);

function size32LE(bytes: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes);
  return size;
}

function size32BE(bytes: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(bytes);
  return size;
}

function size64LE(bytes: number): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(bytes));
  return size;
}

function wavClaiming(bytes: number): Buffer {
  const file = Buffer.from(WAV);
  file.writeUInt32LE(bytes, 40);
  return file;
}

const AIFF = Buffer.concat([Buffer.from('FORM'), size32BE(4 + SOUND.length), Buffer.from('AIFF'), SOUND]);
const CAF = Buffer.concat([
  Buffer.from('caff\0\x01\0\0'),
  Buffer.from('data'),
  size64LE(SOUND.length).reverse(),
  SOUND,
]);
const MP4 = Buffer.concat([box('ftyp', Buffer.from('M4A ')), box('moov', Buffer.alloc(99)), box('mdat', SOUND)]);
const ASF = Buffer.concat([
  asfObject(Buffer.from('3026b2758e66cf11a6d900aa0062ce6c', 'hex'), Buffer.alloc(50)),
  asfObject(Buffer.alloc(16, 7), SOUND),
]);
const FLAC = Buffer.concat([Buffer.from('fLaC'), SOUND]);
const OGG = Buffer.concat([oggPage(2, 19), oggPage(0, 200), oggPage(0, 250), oggPage(4, 250)]);

function oggPage(flags: number, bytes: number): Buffer {
  const header = Buffer.alloc(28);
  header.write('OggS');
  header[5] = flags;
  header[26] = 1;
  header[27] = bytes;
  return Buffer.concat([header, Buffer.alloc(bytes, 1)]);
}

/** The ranges of the recordings, and what follows them. */
async function rangesOf(...parts: Buffer[]) {
  const { recordings, unreadBytes } = await recordingsOf(...parts);
  return { ranges: recordings.map(({ start, end }) => [start, end]), unreadBytes };
}

for (const [name, file] of Object.entries({ WAV, AIFF, CAF, MP4, ASF, OGG })) {
  test(`${name} files, one after the other, are as many recordings`, async () => {
    const { length } = file;

    assert.deepEqual(await rangesOf(file), { ranges: [[0, length]], unreadBytes: 0 });
    assert.deepEqual(await rangesOf(file, file, FLAC), {
      ranges: [
        [0, length],
        [length, 2 * length],
        [2 * length, 2 * length + FLAC.length],
      ],
      unreadBytes: 0,
    });
  });
}

test('raw audio has no times', async () => {
  const hasTimes = async (file: Buffer) => (await recordingsOf(file)).recordings[0]!.hasTimes;

  for (const file of [MP4, ASF, OGG, Buffer.from('#!AMR\n')]) assert.ok(await hasTimes(file));
  for (const file of [WAV, AIFF, CAF, FLAC, Buffer.from('fff150', 'hex')]) assert.ok(!(await hasTimes(file)));
});

const ONE: [string, Buffer[]][] = [
  ['samples of an odd number of bytes', [wavOf(SAMPLES), Buffer.alloc(1)]],
  ['chunks after the samples', [WAV, chunk('LIST', Buffer.alloc(5000)), chunk('id3 ', Buffer.alloc(10_000))]],
  ['a tag', [WAV, TAG]],
  ['padding', [WAV, Buffer.alloc(9000)]],
  ['no size of its samples', [wavClaiming(0xff_ff_ff_ff), SOUND]],
  ['a size beyond its end', [wavClaiming(10 ** 6)]],
  ['a format without a size', [FLAC, FLAC]],
  ['nothing that is known', [SOUND]],
];
for (const [what, parts] of ONE) {
  test(`a file with ${what} is one recording up to its end`, async () => {
    const { recordings, unreadBytes } = await recordingsOf(...parts);

    assert.deepEqual([recordings.length, unreadBytes, recordings[0]!.isLongerThanStated], [1, 0, false]);
  });
}

test('a WAV file whose samples go on after the size of its header is longer than stated', async () => {
  const { recordings, unreadBytes } = await recordingsOf(wavClaiming(1000));

  assert.equal(unreadBytes, 0);
  assert.deepEqual(recordings, [
    { start: 0, end: WAV.length, isLongerThanStated: true, hasTimes: false, unsized: null },
  ]);
});

test('what follows a recording and is no recording is counted in bytes', async () => {
  assert.deepEqual(await rangesOf(MP4, SOUND), { ranges: [[0, MP4.length]], unreadBytes: SOUND.length });
});

test('an empty file has no recording', async () => {
  assert.deepEqual(await recordingsOf(Buffer.alloc(0)), { recordings: [], unreadBytes: 0 });
});
