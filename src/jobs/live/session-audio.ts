import type { Pcm } from '../../engines/engine.ts';
import type { LiveFormat } from '../../rules/live/encoding.ts';
import { bytesPerFrame } from '../../rules/live/encoding.ts';
import { FrameReader, silentBytes } from '../../rules/live/frames.ts';
import type { SegmentPosition } from '../../rules/live/live-segments.ts';
import { FLOOR_FRAMES, framePower } from '../../rules/live/live-segments.ts';
import type { StoredPart } from './rows/live-audio.ts';

/** Stored audio of a session, in order. */
export type StoredAudio = AsyncIterable<StoredPart>;

/** Frames before a position from which an engine may learn the voice. */
const LEAD_FRAMES = 1_000;
// The resampler needs the frame before the first.
const RESAMPLER_FRAMES = 1;

/** The byte from which stored audio is needed to continue at a position. */
export function firstByteFor(format: LiveFormat, { frame }: SegmentPosition): number {
  const lead = Math.max(LEAD_FRAMES, FLOOR_FRAMES) + RESAMPLER_FRAMES;
  return Math.max(0, frame - lead) * bytesPerFrame(format);
}

/** The frames of stored audio; a gap is silence. */
export async function* framesOf(format: LiveFormat, audio: StoredAudio, reader = new FrameReader(format)) {
  for await (const part of audio) {
    if (part.kind === 'bytes') yield* reader.push(part.bytes);
    else for (const silence of silentBytes(format, part.bytes)) yield* reader.push(silence);
  }
}

/** What a session that continues knows of the audio before its position. */
export type Before = { lead: Pcm; powers: number[] };

/** @param frames  the last frames before the position */
export function knownBefore(frames: Pcm[]): Before {
  const known = frames.slice(-LEAD_FRAMES);
  const lead = new Int16Array(known.reduce((length, frame) => length + frame.length, 0));
  let at = 0;
  for (const frame of known) {
    lead.set(frame, at);
    at += frame.length;
  }
  return { lead, powers: frames.slice(-FLOOR_FRAMES).map(framePower) };
}
