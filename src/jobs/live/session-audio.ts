import { bytesPerFrame, type LiveFormat } from '../../rules/live/encoding.ts';
import { FrameReader, silentBytes } from '../../rules/live/frames.ts';
import { FLOOR_FRAMES, type SegmentPosition } from '../../rules/live/live-segments.ts';
import type { StoredPart } from './rows/live-audio.ts';

/** Stored audio of a session, in order. */
export type StoredAudio = AsyncIterable<StoredPart>;

// The resampler needs the frame before the first.
const RESAMPLER_FRAMES = 1;

/** The byte from which stored audio is needed to continue at a position. */
export function firstByteFor(format: LiveFormat, { frame }: SegmentPosition): number {
  return Math.max(0, frame - FLOOR_FRAMES - RESAMPLER_FRAMES) * bytesPerFrame(format);
}

/** The frames of stored audio; a gap is silence. */
export async function* framesOf(format: LiveFormat, audio: StoredAudio, reader = new FrameReader(format)) {
  for await (const part of audio) {
    if (part.kind === 'bytes') yield* reader.push(part.bytes);
    else for (const silence of silentBytes(format, part.bytes)) yield* reader.push(silence);
  }
}
