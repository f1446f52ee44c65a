import { bytesPerSample, type LiveEncoding, type LiveFormat } from '../../../rules/live/encoding.ts';
import type { StoredPart } from './live-audio.ts';

// Of WAVE_FORMAT_PCM, WAVE_FORMAT_ALAW and WAVE_FORMAT_MULAW.
const FORMAT_TAGS: Record<LiveEncoding, number> = { pcm_s16le: 1, alaw: 6, mulaw: 7 };
const WAV_HEADER_BYTES = 44;
const MAX_BYTES = 0xffffffff - WAV_HEADER_BYTES;

/** The size in bytes of the file that `wavOf` makes of this number of bytes of audio. */
export function wavMaxBytes(_format: LiveFormat, bytes: number): number {
  return WAV_HEADER_BYTES + bytes;
}

/** A WAV file of the audio of a live session without gaps, bit by bit as it was received. */
export async function* wavOf(
  format: LiveFormat,
  bytes: number,
  audio: AsyncIterable<StoredPart>,
): AsyncGenerator<Uint8Array> {
  yield headerOf(format, bytes);
  for await (const part of audio) if (part.kind === 'bytes') yield part.bytes;
}

function headerOf({ encoding, sampleRate }: LiveFormat, bytes: number): Buffer {
  const sampleBytes = bytesPerSample(encoding);
  const dataBytes = Math.min(bytes, MAX_BYTES);
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(WAV_HEADER_BYTES - 8 + dataBytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(FORMAT_TAGS[encoding], 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * sampleBytes, 28);
  header.writeUInt16LE(sampleBytes, 32);
  header.writeUInt16LE(8 * sampleBytes, 34);
  header.write('data', 36);
  header.writeUInt32LE(dataBytes, 40);
  return header;
}
