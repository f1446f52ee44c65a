type Timed = { startMs: number; endMs: number; channel?: number };

/** Players do not show a cue of no length, and nobody reads one that is shorter. */
const CUE_MIN_MS = 200;

/**
 * The cues with a length of at least 0.2 s each, in the same order. Engines give some words and segments no length, or
 * put them after the audio. A cue that is too short lasts longer: the cues of its channel after it begin later where
 * they have to, those at the end of the audio earlier. Where the audio is too short for all, the cues are shorter.
 * @param cues     sorted by start within each channel
 * @param audioMs  no cue ends after it
 */
export function lastingCues<Cue extends Timed>(cues: readonly Cue[], audioMs: number): Cue[] {
  const counts = new Map<number | undefined, number>();
  for (const { channel } of cues) counts.set(channel, (counts.get(channel) ?? 0) + 1);
  const minOf = ({ channel }: Cue) => Math.min(CUE_MIN_MS, Math.floor(audioMs / counts.get(channel)!));
  return endInTime(begunInTime(cues, minOf), { audioMs, minOf });
}

/** Each cue begins when the one before it has had its time. */
function begunInTime<Cue extends Timed>(cues: readonly Cue[], minOf: (cue: Cue) => number): Cue[] {
  const earliest = new Map<number | undefined, number>();
  return cues.map((cue) => {
    const startMs = Math.max(cue.startMs, earliest.get(cue.channel) ?? 0);
    const leastEndMs = startMs + minOf(cue);
    earliest.set(cue.channel, leastEndMs);
    return { ...cue, startMs, endMs: Math.max(cue.endMs, leastEndMs) };
  });
}

/** From the last cue on, each ends before the one after it has to begin, and before the audio ends. */
function endInTime<Cue extends Timed>(
  cues: readonly Cue[],
  { audioMs, minOf }: { audioMs: number; minOf: (cue: Cue) => number },
): Cue[] {
  const latest = new Map<number | undefined, number>();
  return cues
    .toReversed()
    .map((cue) => {
      const latestEndMs = latest.get(cue.channel) ?? audioMs;
      const startMs = Math.min(cue.startMs, latestEndMs - minOf(cue));
      // Segments of one channel may overlap, unless this one was moved.
      const endMs = Math.min(cue.endMs, startMs < cue.startMs ? latestEndMs : audioMs);
      latest.set(cue.channel, startMs);
      return { ...cue, startMs, endMs };
    })
    .reverse();
}
