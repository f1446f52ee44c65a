import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { openTestFolder, stereoWav } from '../../test/fixtures/audio/test-audio.ts';
import { wavOf } from '../../test/fixtures/audio/wav.ts';
import { TEST_TOOLS } from '../../test/fixtures/tools.ts';
import { decodePcm } from './decode/decode.ts';
import { FileStart } from './file-start.ts';
import { probeStart } from './media/probe.ts';
import { findPlainWav } from './plain-wav.ts';
import { AudioGoneError } from './storage/storage.ts';

const PCM = Int16Array.from({ length: 40_001 }, (_, at) => ((at * 7919) % 65_536) - 32_768);
const HEADER_BYTES = 44;
const SAMPLES_BYTES = PCM.length * 2;
const options = { tools: TEST_TOOLS, maxAudioSeconds: 100 };

type Changes = { edit?: (file: Buffer) => void; before?: Buffer; after?: Buffer };

/** The plain file with a changed header, other chunks before the samples, or other bytes after them. */
function wav({ edit, before = Buffer.alloc(0), after = Buffer.alloc(0) }: Changes = {}): Buffer {
  const file = wavOf(PCM);
  edit?.(file);
  return Buffer.concat([file.subarray(0, 36), before, file.subarray(36), after]);
}

function chunk(name: string, bytes: number): Buffer {
  const head = Buffer.alloc(8);
  head.write(name);
  head.writeUInt32LE(bytes, 4);
  return Buffer.concat([head, Buffer.alloc(bytes + (bytes % 2), 0x61)]);
}

/** As an upload keeps it, in two chunks. */
function startOf(bytes: Buffer): FileStart {
  const start = new FileStart();
  start.update(bytes.subarray(0, 1000));
  start.update(bytes.subarray(1000));
  return start;
}

const claims = (bytes: number) => (file: Buffer) => file.writeUInt32LE(bytes, 40);

const PLAIN: [string, Buffer, { offset?: number; length?: number }][] = [
  ['with nothing else', wav(), {}],
  ['with a list of tags before the samples', wav({ before: chunk('LIST', 26) }), { offset: HEADER_BYTES + 34 }],
  ['with a chunk of odd length', wav({ before: chunk('note', 5) }), { offset: HEADER_BYTES + 14 }],
  ['with tags after the samples', wav({ after: chunk('LIST', 26) }), {}],
  ['of unknown length', wav({ edit: claims(0xffff_ffff) }), {}],
  ['with a length of 0', wav({ edit: claims(0) }), {}],
  ['that claims more samples than it has', wav({ edit: claims(2 ** 31) }), {}],
  ['truncated inside a sample', wav().subarray(0, HEADER_BYTES + 1001), { length: 1000 }],
];

for (const [what, bytes, { offset = HEADER_BYTES, length = SAMPLES_BYTES }] of PLAIN) {
  test(`a plain WAV file ${what} is read without ffmpeg`, async () => {
    await using folder = await openTestFolder();
    const file = await folder.write('upload', bytes);
    const noTools = { ...options, tools: { folder: '/nowhere' } };

    const found = findPlainWav(bytes, bytes.length);
    const probed = await probeStart(startOf(bytes), options);
    const pieces = await Array.fromAsync(decodePcm(file, noTools));

    assert.deepEqual(found, { offset, length });
    assert.deepEqual(probed, {
      kind: 'audio',
      format: 'wav',
      durationMs: Math.ceil(length / 32),
      tracks: [{ index: 0, language: null, title: null, codec: 'pcm_s16le', channels: 1, default: true }],
    });
    const samples = pieces.flatMap((piece) => [...piece]);
    assert.deepEqual(samples, [...PCM.subarray(0, length / 2)]);
  });
}

const OTHERS: [string, Buffer][] = [
  ['on two channels', stereoWav(PCM)],
  ['at another rate', wav({ edit: (file) => file.writeUInt32LE(8000, 24) })],
  ['of 8 bits', wav({ edit: (file) => file.writeUInt16LE(8, 34) })],
  ['of floats', wav({ edit: (file) => file.writeUInt16LE(3, 20) })],
  ['without samples', wav().subarray(0, HEADER_BYTES)],
  ['that ends in its header', wav().subarray(0, 30)],
  ['whose format comes too late', wav({ edit: (file) => file.write('note', 12) })],
  ['whose format is too short', wav({ edit: (file) => file.writeUInt32LE(14, 16) })],
  ['with a header over 4 KiB', wav({ before: chunk('LIST', 5000) })],
  ['in name only', Buffer.from('RIFF and so on, but nothing of the kind')],
  ['of nothing', Buffer.alloc(0)],
];

for (const [what, bytes] of OTHERS) {
  test(`a WAV file ${what} is left to ffmpeg`, () => {
    assert.equal(findPlainWav(bytes, bytes.length), null);
  });
}

test('an upload keeps all of a small file, and the first 4 KiB of every file', () => {
  const small = Buffer.from(Array.from({ length: 10_000 }, (_, at) => at % 251));
  const large = Buffer.concat(Array.from({ length: 30 }, () => small));

  const [ofSmall, ofLarge] = [startOf(small), startOf(large)];

  assert.deepEqual([ofSmall.whole(), ofSmall.first(), ofSmall.sizeBytes], [small, small.subarray(0, 4096), 10_000]);
  assert.deepEqual([ofLarge.whole(), ofLarge.first(), ofLarge.sizeBytes], [null, small.subarray(0, 4096), 300_000]);
});

test('the first 4 KiB of a plain WAV file and its size are enough', () => {
  const bytes = wav({ before: chunk('LIST', 3000) });

  assert.deepEqual(findPlainWav(bytes.subarray(0, 4096), bytes.length), findPlainWav(bytes, bytes.length));
});

test('a plain WAV file of several blocks is read whole', async () => {
  await using folder = await openTestFolder();
  const samples = Int16Array.from({ length: 400_003 }, (_, at) => at % 30_011);
  const file = await folder.write('upload', wavOf(samples));

  for (const isInMemory of [false, true]) {
    const pieces = await Array.fromAsync(decodePcm(file, { ...options, isInMemory }));

    assert.ok(pieces.length > 1);
    assert.deepEqual(Int16Array.from(pieces.flatMap((piece) => [...piece])), samples);
  }
});

test('a file that is missing or was cut off is reported as gone', async () => {
  await using folder = await openTestFolder();
  const file = await folder.write('upload', wavOf(new Int16Array(1_000)));
  const sizeBytes = 44 + 2_000;

  for (const isInMemory of [false, true]) {
    const decode = (name: string, more: number) =>
      Array.fromAsync(decodePcm(path.join(folder.path, name), { ...options, isInMemory, sizeBytes: sizeBytes + more }));
    assert.equal((await decode(path.basename(file), 0)).length, 1);
    await assert.rejects(decode(path.basename(file), 1), AudioGoneError);
    await assert.rejects(decode('nothing', 0), AudioGoneError);
  }
});

test('a plain WAV file over the limit is refused, and reading stops at the limit', async () => {
  await using folder = await openTestFolder();
  const bytes = wav();
  const file = await folder.write('upload', bytes);
  const short = { ...options, maxAudioSeconds: 2 };

  const probed = await probeStart(startOf(bytes), { maxAudioSeconds: 2 });

  assert.match(probed?.kind === 'refused' ? probed.message : '', /longer than the limit of 2 seconds/);
  await assert.rejects(Array.fromAsync(decodePcm(file, short)), /longer than the limit/);
});
