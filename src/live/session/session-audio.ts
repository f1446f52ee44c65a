import type { Pcm } from '../../engines/engine.ts';
import type { StoredPart } from '../../jobs/live/live-audio.ts';
import { bytesPerFrame, type LiveFormat } from '../../rules/live/encoding.ts';
import { FrameReader, type Gap } from '../../rules/live/frames.ts';
import { FLOOR_FRAMES, type SegmentPosition } from '../../rules/live/live-segments.ts';

/** Stored audio of a session, in order. */
export type StoredAudio = AsyncIterable<StoredPart>;

// The resampler needs the frame before the first.
const RESAMPLER_FRAMES = 1;

/** The byte from which stored audio is needed to continue at a position. */
export function firstByteFor(format: LiveFormat, { frame }: SegmentPosition): number {
  return Math.max(0, frame - FLOOR_FRAMES - RESAMPLER_FRAMES) * bytesPerFrame(format);
}

/** The frames and the gaps of stored audio. */
export async function* framesOf(
  format: LiveFormat,
  audio: StoredAudio,
  reader = new FrameReader(format),
): AsyncGenerator<Pcm | Gap> {
  for await (const part of audio) yield* part.kind === 'bytes' ? reader.push(part.bytes) : reader.skip(part.bytes);
}
