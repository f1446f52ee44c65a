import type { Pcm } from './engine.ts';
import { SAMPLE_RATE } from './engine.ts';

const HEADER_BYTES = 44;
const BYTES_PER_SAMPLE = 2;

/** A WAV file of the samples: mono, 16 000 per second, 16 bits. */
export function wavFile(pcm: Pcm): Uint8Array<ArrayBuffer> {
  const dataBytes = pcm.length * BYTES_PER_SAMPLE;
  const file = Buffer.alloc(HEADER_BYTES + dataBytes);
  file.write('RIFF', 0);
  file.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(SAMPLE_RATE, 24);
  file.writeUInt32LE(SAMPLE_RATE * BYTES_PER_SAMPLE, 28);
  file.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  file.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  file.write('data', 36);
  file.writeUInt32LE(dataBytes, 40);
  Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength).copy(file, HEADER_BYTES);
  return file;
}
