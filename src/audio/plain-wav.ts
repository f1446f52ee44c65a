import type { FileHandle } from 'node:fs/promises';
import { open, stat } from 'node:fs/promises';
import { SAMPLE_RATE } from '../engines/engine.ts';

/** Where the samples of a plain file lie; both in bytes. */
export type PlainWav = { offset: number; length: number };

// Anything longer before the samples is for ffmpeg to read.
const HEADER_MAX_BYTES = 4096;
const FORMAT_BYTES = 16;
const BYTES_PER_SAMPLE = 2;
const FORMAT_PCM = 1;
// As a writer says it that does not yet know, or never will.
const UNKNOWN_LENGTHS = [0, 0xff_ff_ff_ff];

/**
 * The samples of a WAV file that is already as engines take it: mono, 16 kHz, 16 bits, not compressed. Nothing has to be
 * decoded in it, and starting a decoder costs more than many an engine takes for a short file.
 * @returns null for every other file, whatever is wrong or unusual with it
 */
export async function findPlainWav(path: string): Promise<PlainWav | null> {
  const found = await stat(path).catch(() => null);
  // A pipe would not open before somebody writes into it.
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
    // Chunks begin at even places.
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
