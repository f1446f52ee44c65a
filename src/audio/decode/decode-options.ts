import type { AudioOptions } from '../media/probe.ts';
import type { ReadOptions } from '../plain-wav.ts';

/**
 * What the probe found of the track; null what it did not.
 * @property durationMs  the length that the file claims
 */
export type ProbedTrack = { format: string; codec: string | null; channels: number | null; durationMs: number };

/**
 * @property track  index of the audio track; the first when absent
 * @property sizeBytes, isInMemory  as for `openPlainWav`
 * @property onUnread  is told at the end, where bytes follow what was decoded that cannot be read on
 */
export type DecodeOptions = AudioOptions &
  ReadOptions & { stallMaxMs?: number; track?: number; probed?: ProbedTrack; onUnread?: (bytes: number) => void };
