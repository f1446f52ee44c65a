import type { LiveSegment } from '../../../src/jobs/live/live-segment.ts';
import { SessionDecoding } from '../../../src/live/session/session-decoding.ts';
import { openStubDecoder } from '../../fixtures/live.ts';
import { SESSION_OPTIONS } from './session-options.ts';

/** A chunk as it was stored; `size` 0: a gap. `hash`: MD5 of its bytes. */
export type StoredChunk = { start_byte: number; length: number; size: number; hash: string };

type Segment = Pick<LiveSegment, 'number' | 'startSeconds' | 'endSeconds' | 'text'>;

/** The segments of a session without faults of which the same audio was stored. */
export async function undisturbed(chunks: StoredChunk[], audio: Buffer): Promise<Segment[]> {
  const segments: Segment[] = [];
  const ignore = () => undefined;
  const session = new SessionDecoding({
    row: { options: SESSION_OPTIONS, durableBytes: 0, segments: 0, frame: 0, isSpeaking: false },
    over: new AbortController().signal,
    engine: {},
    journal: {
      append: ignore,
      skip: ignore,
      warn: ignore,
      move: ignore,
      add: async ({ number, startSeconds, endSeconds, text }) =>
        void segments.push({ number, startSeconds, endSeconds, text }),
      flush: async () => undefined,
      pendingBytes: () => 0,
      read: () => {
        throw new Error('nothing is read again');
      },
    },
    openDecoder: () => openStubDecoder(),
    events: {},
    turn: async () => undefined,
    onFailed: (cause) => {
      throw cause;
    },
  });
  for (const { start_byte: start, length, size } of chunks) {
    if (size === 0) session.gap(start + length);
    else session.write(audio.subarray(start, start + length));
  }
  await session.finish();
  return segments;
}
