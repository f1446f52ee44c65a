import { WAV_HEADER_BYTES, wavHeaderOf } from '../../../engines/wav-header.ts';
import { bytesPerSample, type LiveEncoding, type LiveFormat } from '../../../rules/live/encoding.ts';
import type { StoredPart } from './live-audio.ts';

// Of WAVE_FORMAT_PCM, WAVE_FORMAT_ALAW and WAVE_FORMAT_MULAW.
const FORMAT_TAGS: Record<LiveEncoding, number> = { pcm_s16le: 1, alaw: 6, mulaw: 7 };
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
  const { encoding, sampleRate } = format;
  const sampleBytes = bytesPerSample(encoding);
  yield wavHeaderOf({ tag: FORMAT_TAGS[encoding], sampleRate, sampleBytes }, Math.min(bytes, MAX_BYTES));
  for await (const part of audio) if (part.kind === 'bytes') yield part.bytes;
}
