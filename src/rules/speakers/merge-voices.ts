import type { SpeakerBounds } from './turn.ts';

/**
 * A voice that clustering found.
 * @property centroid  its embedding, of length 1; of length 0 where the voice is too short for an embedding
 */
export type Voice = { seconds: number; centroid: readonly number[] };

export type MergedVoices = {
  /** For each voice the number of its speaker; numbers have no gaps. */
  speakerOf: number[];
  /** A voice with little speech was counted as the one most like it. */
  wasAbsorbed: boolean;
};

// Clustering makes such voices of laughter, noise and overlapping speech.
// Reports of its errors are in docs/speakers.md.
const SMALL_SHARE = 0.03;
const SMALL_SECONDS = 15;

type Group = { voices: number[]; seconds: number; sum: number[]; centroid: number[] };

/**
 * Merges voices into speakers: first those that are alike, then small ones into the nearest, then the nearest pairs
 * while there are more than `bounds.max`. Never below `bounds.min`.
 * @param threshold  cosine distance of centroids below which two voices are one speaker
 */
export function mergeVoices(voices: readonly Voice[], bounds: SpeakerBounds, threshold: number): MergedVoices {
  const groups = voices.map(({ seconds, centroid }, voice): Group => {
    return { voices: [voice], seconds, sum: centroid.map((value) => value * seconds), centroid: [...centroid] };
  });
  const totalSeconds = voices.reduce((sum, { seconds }) => sum + seconds, 0);
  const distances = groups.map((one) => groups.map((other) => distance(one, other)));
  let wasAbsorbed = false;
  while (groups.length > Math.max(1, bounds.min)) {
    const nearest = nearestPair(distances);
    if (nearest.distance < threshold) {
      merge(groups, distances, nearest);
      continue;
    }
    const small = smallestOf(groups);
    if (isSmall(groups[small]!, totalSeconds)) {
      wasAbsorbed = true;
      merge(groups, distances, { one: nearestTo(small, distances), other: small });
    } else if (groups.length > bounds.max) merge(groups, distances, nearest);
    else break;
  }
  return {
    speakerOf: voices.map((_, voice) => groups.findIndex((group) => group.voices.includes(voice))),
    wasAbsorbed,
  };
}

/** The embedding with length 1; zeros stay zeros. */
export function unitVector(values: ArrayLike<number>): number[] {
  const length = Math.hypot(...Array.from(values));
  return Array.from(values, (value) => (length === 0 || !Number.isFinite(length) ? 0 : value / length));
}

/** 0 for the same direction, 1 for unrelated voices and for those without an embedding. */
function distance(one: Group, other: Group): number {
  return 1 - one.centroid.reduce((sum, value, at) => sum + value * other.centroid[at]!, 0);
}

type Pair = { one: number; other: number };

function merge(groups: Group[], distances: number[][], { one, other }: Pair): void {
  const [left, right] = [groups[one]!, groups[other]!];
  const sum = left.sum.map((value, at) => value + right.sum[at]!);
  const seconds = left.seconds + right.seconds;
  groups[one] = { voices: [...left.voices, ...right.voices], seconds, sum, centroid: unitVector(sum) };
  groups.splice(other, 1);
  for (const row of distances) row.splice(other, 1);
  distances.splice(other, 1);
  const place = other < one ? one - 1 : one;
  for (const [at, group] of groups.entries()) {
    distances[place]![at] = distances[at]![place] = distance(groups[place]!, group);
  }
}

function nearestPair(distances: number[][]): Pair & { distance: number } {
  let nearest = { one: 0, other: 1, distance: Number.POSITIVE_INFINITY };
  for (let one = 0; one < distances.length; one++) {
    for (let other = one + 1; other < distances.length; other++) {
      const found = distances[one]![other]!;
      if (found < nearest.distance) nearest = { one, other, distance: found };
    }
  }
  return nearest;
}

function nearestTo(group: number, distances: number[][]): number {
  const others = distances.map((_, at) => at).filter((at) => at !== group);
  return others.reduce((best, at) => (distances[group]![at]! < distances[group]![best]! ? at : best), others[0]!);
}

function smallestOf(groups: Group[]): number {
  return groups.reduce((best, { seconds }, at) => (seconds < groups[best]!.seconds ? at : best), 0);
}

function isSmall({ seconds }: Group, totalSeconds: number): boolean {
  return seconds < SMALL_SECONDS && seconds < SMALL_SHARE * totalSeconds;
}
