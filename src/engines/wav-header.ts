import { type Pcm, SAMPLE_RATE } from './engine.ts';

export const WAV_HEADER_BYTES = 44;
const WAVE_FORMAT_PCM = 1;

/** @property tag  of the encoding, such as WAVE_FORMAT_PCM */
type WavFormat = { tag: number; sampleRate: number; sampleBytes: number };

/** A WAV file's header for the samples, which follow it: mono, 16 000 per second, 16 bits. */
export function wavHeader(pcm: Pcm): Buffer {
  return wavHeaderOf({ tag: WAVE_FORMAT_PCM, sampleRate: SAMPLE_RATE, sampleBytes: 2 }, pcm.length * 2);
}

/** The same for mono samples of any encoding, which take this number of bytes. */
export function wavHeaderOf({ tag, sampleRate, sampleBytes }: WavFormat, dataBytes: number): Buffer {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(WAV_HEADER_BYTES - 8 + dataBytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(tag, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * sampleBytes, 28);
  header.writeUInt16LE(sampleBytes, 32);
  header.writeUInt16LE(8 * sampleBytes, 34);
  header.write('data', 36);
  header.writeUInt32LE(dataBytes, 40);
  return header;
}
