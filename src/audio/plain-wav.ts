import { type Pcm, SAMPLE_RATE } from '../engines/engine.ts';
import { type OpenAudio, openAudio } from './storage/open-audio.ts';
import { AudioGoneError } from './storage/storage.ts';

/** The byte range of the samples in a file. */
export type PlainWav = { offset: number; length: number };

/**
 * What is known of a file before it is opened.
 * @property sizeBytes   of the whole file: a power failure may have cut off a file whose sender got no answer
 * @property isInMemory  it was written a moment ago: its start is read in the event loop, which takes 20 µs. To wake a
 *                       thread of the pool for the opening and for the reading takes 0.5 ms.
 */
export type ReadOptions = { sizeBytes?: number; isInMemory?: boolean };

/** The bytes from a file's start that `findPlainWav` reads; ffmpeg reads files with a longer header. */
export const HEADER_MAX_BYTES = 4096;
// 8 s of audio: most short files are read at once.
const BLOCK_BYTES = 256 * 1024;
const FORMAT_BYTES = 16;
const BYTES_PER_SAMPLE = 2;
const FORMAT_PCM = 1;
/** What follows the samples is a chunk or a tag, and no sound: ffmpeg reads files with more. */
const REST_MAX_BYTES = 4096;
// Values that encoders write before the length is known.
const UNKNOWN_LENGTHS = [0, 0xff_ff_ff_ff];

/**
 * The samples of a WAV file that is already in the engines' format: mono, 16 kHz, 16 bits, not compressed. Such a file
 * needs no decoder, and for short files the start of a decoder takes longer than some engines.
 * @param start  the file's first bytes, at least HEADER_MAX_BYTES of them or all
 * @returns null for every other file, damaged ones included
 */
export function findPlainWav(start: Buffer, sizeBytes: number): PlainWav | null {
  const samples = findSamples(start.subarray(0, HEADER_MAX_BYTES));
  if (samples === null) return null;
  const bytes = Math.min(samples.claimedBytes, sizeBytes - samples.offset);
  const length = bytes - (bytes % BYTES_PER_SAMPLE);
  return length > 0 ? { offset: samples.offset, length } : null;
}

export function plainSeconds({ length }: PlainWav): number {
  return length / BYTES_PER_SAMPLE / SAMPLE_RATE;
}

/**
 * The samples of a plain WAV file in chunks, read only as fast as they are consumed; null for every other file, and
 * where something follows the samples. Iterate the chunks: that closes the file.
 * @throws AudioGoneError  when there is no file, or a part of it is missing
 * @throws StorageAwayError  when the file cannot be read
 */
export async function openPlainWav(
  path: string,
  { sizeBytes = 0, isInMemory = false }: ReadOptions = {},
): Promise<AsyncIterable<Pcm> | null> {
  const file = await openAudio(path, { isInMemory });
  let chunks: AsyncIterable<Pcm> | null = null;
  try {
    if (!file.isFile) return null;
    if (file.sizeBytes < sizeBytes) throw new AudioGoneError();
    const start = await file.read(0, Math.min(file.sizeBytes, BLOCK_BYTES), { isInMemory });
    const plain = findPlainWav(start, file.sizeBytes);
    if (plain !== null && file.sizeBytes - plain.offset - plain.length < REST_MAX_BYTES)
      chunks = readSamples(file, start, plain);
    return chunks;
  } finally {
    if (chunks === null) file[Symbol.dispose]();
  }
}

async function* readSamples(opened: OpenAudio, start: Buffer, { offset, length }: PlainWav): AsyncGenerator<Pcm> {
  using file = opened;
  const end = offset + length;
  let block = start.subarray(offset, end);
  for (let at = offset; block.length > 0; ) {
    yield samplesIn(block);
    at += block.length;
    block = await file.read(at, Math.min(end - at, BLOCK_BYTES));
  }
}

/** The samples start at an even offset, as all chunks of a RIFF file do. */
function samplesIn(block: Buffer): Pcm {
  return new Int16Array(block.buffer as ArrayBuffer, block.byteOffset, Math.floor(block.length / BYTES_PER_SAMPLE));
}

function findSamples(start: Buffer): { offset: number; claimedBytes: number } | null {
  const wav = readWavHeader(start);
  return wav !== null && isPlainFormat(wav.format) ? wav : null;
}

/**
 * Where the samples of a WAV file start, how many bytes of them the header claims, and the format chunk before them.
 * @param start  the file's first bytes
 * @returns null when these are not the start of a WAV file, or end before its samples
 */
export function readWavHeader(start: Buffer): { offset: number; claimedBytes: number; format: Buffer } | null {
  if (start.toString('latin1', 0, 4) !== 'RIFF' || start.toString('latin1', 8, 12) !== 'WAVE') return null;
  let format: Buffer = Buffer.alloc(0);
  for (let at = 12; at + 8 <= start.length; ) {
    const name = start.toString('latin1', at, at + 4);
    const bytes = start.readUInt32LE(at + 4);
    if (name === 'data') {
      const claimedBytes = UNKNOWN_LENGTHS.includes(bytes) ? Number.POSITIVE_INFINITY : bytes;
      return { offset: at + 8, claimedBytes, format };
    }
    if (name === 'fmt ') format = start.subarray(at + 8, at + 8 + bytes);
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
