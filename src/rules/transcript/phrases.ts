import { clipTo, hullOf, type Interval } from './intervals.ts';

/**
 * A part of the audio that is transcribed by itself.
 * @property speech        its speech, in seconds from the start of the part
 * @property overlapsNext  there is no pause at its end: the cut may be inside a word, so that the next part has the end
 *                         of this one too
 */
export type Phrase = Interval & { speech: Interval[]; overlapsNext: boolean };

export type PhraseOptions = {
  lengthSeconds: number;
  /** The longest phrase. */
  maxSeconds: number;
  /** The best place for a cut where there is no pause between two times, in seconds. */
  quietest: (part: Interval) => number;
  /** Whether two neighbours are no phrase, however short the gap; absent: never. */
  isApart?: (one: Interval, next: Interval) => boolean;
};

/** A longer gap ends a phrase: there a sentence or a part of one has ended. */
const PAUSE_SECONDS = 1.2;
/** Around the speech of a phrase: the detector is late for the first sound of a word, and early for the last. */
const MARGIN_SECONDS = 0.3;
/** Each of two neighbours has so much of the other where the cut is in speech: together they have every word whole. */
export const OVERLAP_SECONDS = 0.5;
/** A shorter gap may be the closure of a "t". */
const GAP_SECONDS = 0.15;

/**
 * Divides audio into phrases of detected speech: neighbouring intervals over short gaps are one phrase, up to the
 * longest. A longer run is cut in its longest gap, or at its quietest place. Audio without speech is in no phrase.
 * @param speech  sorted intervals
 */
export function dividePhrases(speech: readonly Interval[], options: PhraseOptions): Phrase[] {
  const { lengthSeconds, maxSeconds } = options;
  const longest = maxSeconds - 2 * OVERLAP_SECONDS;
  const runs = splitAtPauses(speech, options.isApart).flatMap((run) => cutRun(run, longest, options.quietest));
  const hulls = runs.map((run) => hullOf(run.speech)!);
  return runs.map((run, index) => {
    const { startSeconds: first, endSeconds: last } = hulls[index]!;
    const before = hulls[index - 1]?.endSeconds ?? Number.NEGATIVE_INFINITY;
    const after = hulls[index + 1]?.startSeconds ?? Number.POSITIVE_INFINITY;
    const start = runs[index - 1]?.isCutAtEnd
      ? first - OVERLAP_SECONDS
      : Math.max(first - MARGIN_SECONDS, (before + first) / 2);
    const end = run.isCutAtEnd ? last + OVERLAP_SECONDS : Math.min(last + MARGIN_SECONDS, (last + after) / 2);
    const part = { startSeconds: Math.max(0, start), endSeconds: Math.min(lengthSeconds, end) };
    return { ...part, speech: clipTo(part, run.speech), overlapsNext: run.isCutAtEnd };
  });
}

type Run = { speech: Interval[]; isCutAtEnd: boolean };

function splitAtPauses(speech: readonly Interval[], isApart: PhraseOptions['isApart']): Interval[][] {
  const runs: Interval[][] = [];
  for (const interval of speech) {
    const last = runs.at(-1)?.at(-1);
    const isNear = last && interval.startSeconds - last.endSeconds < PAUSE_SECONDS && !isApart?.(last, interval);
    if (isNear) runs.at(-1)!.push(interval);
    else runs.push([interval]);
  }
  return runs;
}

/** Cuts a run into parts of at most `longest` seconds, each as long as its pauses allow. */
function cutRun(run: Interval[], longest: number, quietest: PhraseOptions['quietest']): Run[] {
  const parts: Run[] = [];
  let rest = run;
  while (rest.length > 0) {
    const { startSeconds, endSeconds } = hullOf(rest)!;
    if (endSeconds - startSeconds <= longest) return [...parts, { speech: rest, isCutAtEnd: false }];
    // A part that is much shorter than the longest has little context; the rest is then cut into equal parts.
    const count = Math.ceil((endSeconds - startSeconds) / longest);
    const equal = (endSeconds - startSeconds) / count;
    const range = { startSeconds: startSeconds + equal / 2, endSeconds: startSeconds + longest };
    const gap = longestGap(rest, range);
    const cut = gap === null ? quietest(range) : (gap.startSeconds + gap.endSeconds) / 2;
    const [left, right] = [
      { startSeconds: 0, endSeconds: cut },
      { startSeconds: cut, endSeconds },
    ].map((side) => rest.flatMap((interval) => within(side, interval)));
    parts.push({ speech: left!, isCutAtEnd: gap === null });
    rest = right!;
  }
  return parts;
}

function longestGap(speech: Interval[], range: Interval): Interval | null {
  let longest: Interval | null = null;
  for (const [index, { startSeconds }] of speech.slice(1).entries()) {
    const gap = { startSeconds: speech[index]!.endSeconds, endSeconds: startSeconds };
    const isInside = gap.startSeconds >= range.startSeconds && gap.startSeconds <= range.endSeconds;
    if (isInside && lengthOf(gap) >= GAP_SECONDS && (longest === null || lengthOf(gap) >= lengthOf(longest))) {
      longest = gap;
    }
  }
  return longest;
}

function lengthOf({ startSeconds, endSeconds }: Interval): number {
  return endSeconds - startSeconds;
}

function within(side: Interval, interval: Interval): Interval[] {
  const startSeconds = Math.max(side.startSeconds, interval.startSeconds);
  const endSeconds = Math.min(side.endSeconds, interval.endSeconds);
  return endSeconds > startSeconds ? [{ startSeconds, endSeconds }] : [];
}
