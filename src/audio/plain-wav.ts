import type { FileHandle } from 'node:fs/promises';
import { open, stat } from 'node:fs/promises';
import { SAMPLE_RATE } from '../engines/engine.ts';

/** The byte range of the samples in a file. */
export type PlainWav = { offset: number; length: number };

// ffmpeg reads files with a longer header.
const HEADER_MAX_BYTES = 4096;
const FORMAT_BYTES = 16;
const BYTES_PER_SAMPLE = 2;
const FORMAT_PCM = 1;
// Values that encoders write before the length is known.
const UNKNOWN_LENGTHS = [0, 0xff_ff_ff_ff];

/**
 * The samples of a WAV file that is already in the engines' format: mono, 16 kHz, 16 bits, not compressed. Such a file needs no
 * decoder, and for short files the start of a decoder takes longer than some engines.
 * @returns null for every other file, damaged ones included
 */
export async function findPlainWav(path: string): Promise<PlainWav | null> {
  const found = await stat(path).catch(() => null);
  // Opening a named pipe would block until a writer opens it.
  if (!found?.isFile()) return null;
  const { size } = found;
  await using file = await open(path);
  const samples = findSamples(await readStart(file));
  if (samples === null) return null;
  const bytes = Math.min(samples.claimedBytes, size - samples.offset);
  const length = bytes - (bytes % BYTES_PER_SAMPLE);
  return length > 0 ? { offset: samples.offset, length } : null;
}

export function plainSeconds({ length }: PlainWav): number {
  return length / BYTES_PER_SAMPLE / SAMPLE_RATE;
}

async function readStart(file: FileHandle): Promise<Buffer> {
  const buffer = Buffer.alloc(HEADER_MAX_BYTES);
  const { bytesRead } = await file.read(buffer, 0, HEADER_MAX_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

function findSamples(start: Buffer): { offset: number; claimedBytes: number } | null {
  if (start.toString('latin1', 0, 4) !== 'RIFF' || start.toString('latin1', 8, 12) !== 'WAVE') return null;
  let isPlain = false;
  for (let at = 12; at + 8 <= start.length; ) {
    const name = start.toString('latin1', at, at + 4);
    const bytes = start.readUInt32LE(at + 4);
    const body = start.subarray(at + 8, at + 8 + bytes);
    if (name === 'data') {
      const claimedBytes = UNKNOWN_LENGTHS.includes(bytes) ? Number.POSITIVE_INFINITY : bytes;
      return isPlain ? { offset: at + 8, claimedBytes } : null;
    }
    if (name === 'fmt ') isPlain = isPlainFormat(body);
    // Chunks start at even offsets.
    at += 8 + bytes + (bytes % 2);
  }
  return null;
}

function isPlainFormat(format: Buffer): boolean {
  return (
    format.length >= FORMAT_BYTES &&
    format.readUInt16LE(0) === FORMAT_PCM &&
    format.readUInt16LE(2) === 1 &&
    format.readUInt32LE(4) === SAMPLE_RATE &&
    format.readUInt16LE(12) === BYTES_PER_SAMPLE &&
    format.readUInt16LE(14) === 8 * BYTES_PER_SAMPLE
  );
}
