import { SAMPLE_RATE } from '../../engines/engine.ts';
import type { ProbedTrack } from './decode-options.ts';
import { type Frames, silence } from './fill-holes.ts';

/** Of MP4 and QuickTime, whose index has the exact length of a track. */
const EXACT = ['m4a', 'mp4', 'mov', '3gp'];
/** Two frames of AAC at 44 100 Hz and more: what is beyond is audio that the index does not know. */
const EXCESS_MAX_SECONDS = 0.1;

/**
 * Decoded audio that ends where the file says. A decoder gives whole frames, of which an MP4 file plays the last one in
 * part; and none for the pauses of AMR, whose last one would be missing.
 */
export async function* fitEnd(frames: AsyncIterable<Frames>, probed: ProbedTrack | undefined): AsyncGenerator<Frames> {
  const end = Math.round(((probed?.durationMs ?? 0) * SAMPLE_RATE) / 1000);
  if (end > 0 && EXACT.includes(probed!.format)) yield* withoutExcess(frames, end);
  else if (end > 0 && probed!.format === 'amr') yield* withSilence(frames, end);
  else yield* frames;
}

async function* withoutExcess(frames: AsyncIterable<Frames>, end: number): AsyncGenerator<Frames> {
  let written = 0;
  let held: Frames[] = [];
  for await (const { channels, samples } of frames) {
    const inside = Math.max(0, Math.min(samples.length, (end - written) * channels));
    written += samples.length / channels;
    if (inside > 0) yield { channels, samples: samples.subarray(0, inside) };
    if (inside < samples.length) held.push({ channels, samples: samples.subarray(inside) });
    if (written - end > EXCESS_MAX_SECONDS * SAMPLE_RATE) {
      yield* held;
      held = [];
    }
  }
}

async function* withSilence(frames: AsyncIterable<Frames>, end: number): AsyncGenerator<Frames> {
  let written = 0;
  for await (const chunk of frames) {
    written += chunk.samples.length / chunk.channels;
    yield chunk;
  }
  yield* silence(end - written, 1);
}
