import fs from 'node:fs/promises';
import type { LiveParams } from '#sdk/client/index.ts';

/** The rates that live sessions take. */
export type SampleRate = NonNullable<LiveParams['sample_rate']>;

/** A WAV file whose samples a live session takes. */
export type Wav = {
  sampleRate: SampleRate;
  /** Its samples, the channels mixed. */
  audio(): AsyncIterable<Uint8Array>;
};

const RATES: readonly number[] = [8_000, 16_000, 24_000, 32_000, 44_100, 48_000];
const PCM = 1;
const EXTENSIBLE = 0xfffe;
const MAX_CHUNKS = 64;
const BLOCK_SAMPLES = 16_384;

/** The file, when it is a WAV of 16-bit samples at a rate that live sessions have; else null. */
export async function readWav(file: string): Promise<Wav | null> {
  const handle = await fs.open(file);
  try {
    const found = await findSamples(handle);
    if (found === null) return null;
    const { sampleRate, channels, from, bytes } = found;
    return { sampleRate, audio: () => readSamples(file, { channels, from, bytes }) };
  } finally {
    await handle.close();
  }
}

async function findSamples(handle: fs.FileHandle) {
  const head = await read(handle, 0, 12);
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE') return null;
  let format: { sampleRate: SampleRate; channels: number } | null = null;
  for (let [at, count] = [12, 0]; count < MAX_CHUNKS; count++) {
    const chunk = await read(handle, at, 8);
    if (chunk.length < 8) return null;
    const [id, bytes] = [chunk.toString('latin1', 0, 4), chunk.readUInt32LE(4)];
    if (id === 'fmt ') format = formatOf(await read(handle, at + 8, 16));
    if (id === 'data') return format && { ...format, from: at + 8, bytes };
    at += 8 + bytes + (bytes % 2);
  }
  return null;
}

function formatOf(chunk: Buffer): { sampleRate: SampleRate; channels: number } | null {
  if (chunk.length < 16) return null;
  const [code, channels, rate] = [chunk.readUInt16LE(0), chunk.readUInt16LE(2), chunk.readUInt32LE(4)];
  const isUsable = [PCM, EXTENSIBLE].includes(code) && chunk.readUInt16LE(14) === 16 && channels > 0;
  return isUsable && RATES.includes(rate) ? { sampleRate: rate as SampleRate, channels } : null;
}

async function* readSamples(
  file: string,
  { channels, from, bytes }: { channels: number; from: number; bytes: number },
): AsyncGenerator<Uint8Array> {
  const handle = await fs.open(file);
  const frameBytes = 2 * channels;
  const blockBytes = BLOCK_SAMPLES * frameBytes;
  try {
    // The length in the header of a recording that was broken off is too large, or 0xffffffff.
    for (let at = 0; at < bytes; at += blockBytes) {
      const block = await read(handle, from + at, Math.min(blockBytes, bytes - at));
      const frames = Math.floor(block.length / frameBytes);
      if (frames === 0) return;
      yield channels === 1 ? block.subarray(0, frames * 2) : mixed(block, { frames, channels });
    }
  } finally {
    await handle.close();
  }
}

function mixed(block: Buffer, { frames, channels }: { frames: number; channels: number }): Buffer {
  const result = Buffer.alloc(frames * 2);
  for (let frame = 0; frame < frames; frame++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++) sum += block.readInt16LE((frame * channels + channel) * 2);
    result.writeInt16LE(Math.round(sum / channels), frame * 2);
  }
  return result;
}

async function read(handle: fs.FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, at);
  return buffer.subarray(0, bytesRead);
}
