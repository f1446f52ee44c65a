import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { temporaryFolder } from '../../test/fixtures/service.ts';
import { readWav } from './wav.ts';

const folder = temporaryFolder();
after(() => fs.rmSync(folder, { recursive: true }));

const SAMPLES = Int16Array.of(1_000, -1_000, 3, 5, -32_768, -32_768);

type Parts = { code?: number; channels?: number; rate?: number; bits?: number; dataBytes?: number; extra?: Buffer };

/** The path of a WAV file. */
function write({ code = 1, channels = 1, rate = 16_000, bits = 16, dataBytes, extra }: Parts = {}): string {
  const data = Buffer.from(SAMPLES.buffer);
  const format = Buffer.alloc(16);
  format.writeUInt16LE(code, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt16LE(bits, 14);
  const chunk = (id: string, body: Buffer, size = body.length) => {
    const head = Buffer.from(`${id}\0\0\0\0`, 'latin1');
    head.writeUInt32LE(size, 4);
    return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
  };
  const file = path.join(folder, `${Math.random()}.wav`);
  const chunks = [
    ...[Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), chunk('fmt ', format)],
    ...[extra === undefined ? Buffer.alloc(0) : chunk('LIST', extra), chunk('data', data, dataBytes)],
  ];
  fs.writeFileSync(file, Buffer.concat(chunks));
  return file;
}

async function samplesOf(file: string): Promise<number[] | null> {
  const wav = await readWav(file);
  if (wav === null) return null;
  const bytes = Buffer.concat(await Array.fromAsync(wav.audio()));
  return Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(at * 2));
}

test('samples are read as they are, channels are mixed, and chunks before them are skipped', async () => {
  assert.deepEqual(await samplesOf(write()), [...SAMPLES]);
  assert.deepEqual(await samplesOf(write({ extra: Buffer.from('odd') })), [...SAMPLES]);
  assert.deepEqual(await samplesOf(write({ channels: 2 })), [0, 4, -32_768]);
});

test('a recording that was broken off is read to its end, whatever its header says', async () => {
  assert.deepEqual(await samplesOf(write({ dataBytes: 0xffff_ffff })), [...SAMPLES]);
});

test('a rate of live sessions is kept; what they do not take is left to ffmpeg', async () => {
  assert.equal((await readWav(write({ rate: 44_100 })))!.sampleRate, 44_100);
  for (const parts of [{ rate: 11_025 }, { bits: 24 }, { code: 3, bits: 32 }, { channels: 0 }]) {
    assert.equal(await readWav(write(parts)), null);
  }
  for (const text of ['', 'RIFF', 'no audio at all, but some text'] as const) {
    const file = path.join(folder, 'other');
    fs.writeFileSync(file, text);
    assert.equal(await readWav(file), null);
  }
});
