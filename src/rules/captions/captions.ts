import { type CaptionSegment, type CaptionWord, captionWords, countTurns, prefixNames } from './caption-words.ts';

/** What captions may look like. */
export type CaptionOptions = {
  /** Columns of a line. */
  maxLineLength: number;
  maxLines: number;
  minDurationMs: number;
  maxDurationMs: number;
  maxCharsPerSecond: number;
  /** Between the end of a caption and the start of the next. */
  minGapMs: number;
};

/** A caption, in whole milliseconds from the start of the audio. Those of several channels may overlap. */
export type Cue = { startMs: number; endMs: number; lines: string[]; name?: string; channel?: number };

/** The values of the common broadcasting guides, for the options that a request leaves out. */
export const CAPTION_DEFAULTS: CaptionOptions = {
  maxLineLength: 42,
  maxLines: 2,
  minDurationMs: 833,
  maxDurationMs: 7_000,
  maxCharsPerSecond: 20,
  minGapMs: 83,
};

const SENTENCE_END = /[.!?…。！？]["'”’»)\]]*$/u;
const CLAUSE_END = /[,;:、，；：–—]["'”’»)\]]*$/u;
// A pause this long always ends a caption.
const LONGEST_PAUSE_MS = 3_000;
const NOTICED_PAUSE_MS = 300;
// A caption stays for up to this time after its last word.
const LINGER_MS = 500;
// A caption is shown for this time where the gap before the next one would leave less:
// players never show a caption of 0 ms.
const SHORTEST_MS = 200;
const SHORT_WIDTH = 8;
// Costs of a division into captions; only their proportions matter.
const COST = {
  caption: 10,
  clause: 6,
  pause: 6,
  segment: 4,
  elsewhere: 15,
  alone: 5,
  pausePerSecond: 8,
  tooFast: 30,
  tooShort: 10,
};

/**
 * Divides a transcript into captions within the limits. A caption has words of one speaker only. Every word appears
 * once and in order. Captions of one channel do not overlap, and none is longer than `maxDurationMs`. A line is longer
 * than the limit only where a single word is. Speech that is faster than `maxCharsPerSecond` stays so, a caption is
 * shorter than `minDurationMs` where the next one starts earlier, and the gap is shorter than `minGapMs` where it would
 * hide a caption.
 */
export function shapeCaptions(
  segments: readonly CaptionSegment[],
  options: CaptionOptions,
  { hasPrefixes }: { hasPrefixes: boolean } = { hasPrefixes: false },
): Cue[] {
  const channels = Map.groupBy(countTurns(segments), ({ channel }) => channel);
  const cues = [...channels].flatMap(([channel, own]) => {
    const shaped = shapeChannel(own, options, hasPrefixes);
    return channel === undefined ? shaped : shaped.map((cue) => ({ ...cue, channel }));
  });
  return channels.size > 1 ? cues.sort((left, right) => left.startMs - right.startMs) : cues;
}

function shapeChannel(segments: readonly CaptionSegment[], options: CaptionOptions, hasPrefixes: boolean): Cue[] {
  const words = hasPrefixes ? prefixNames(captionWords(segments)) : captionWords(segments);
  const ends = bestDivision(words, options);
  return ends.map((end, i) => {
    const own = words.slice(ends[i - 1] ?? 0, end);
    const { name } = own[0]!;
    return { ...timesOf(own, words[end], options), lines: linesOf(own, options), ...(name !== null && { name }) };
  });
}

/**
 * Where captions end: the positions after their last words. The division with the least cost, by dynamic programming.
 */
function bestDivision(words: CaptionWord[], options: CaptionOptions): number[] {
  const best = [{ cost: 0, from: 0 }];
  for (let from = 0; from < words.length; from++) {
    const filler = new LineFiller(options);
    let pauseCost = 0;
    for (let end = from + 1; end <= words.length; end++) {
      const word = words[end - 1]!;
      const pauseMs = end - 1 === from ? 0 : word.startMs - words[end - 2]!.endMs;
      pauseCost += (Math.max(0, pauseMs - NOTICED_PAUSE_MS) / 1000) * COST.pausePerSecond;
      const fits = filler.add(word) && word.endMs - words[from]!.startMs <= options.maxDurationMs;
      // A single word is a caption whatever its length.
      const isOther = word.turn !== words[from]!.turn;
      if (end - 1 > from && (!fits || pauseMs > LONGEST_PAUSE_MS || isOther)) break;
      const cost = best[from]!.cost + pauseCost + costOf(words, { from, end, width: filler.width }, options);
      const known = best[end];
      if (known === undefined || cost < known.cost) best[end] = { cost, from };
    }
  }
  const ends: number[] = [];
  for (let end = words.length; end > 0; end = best[end]!.from) ends.push(end);
  return ends.reverse();
}

/** Counts the lines that words need when each line is filled before the next begins. */
class LineFiller {
  readonly #options: CaptionOptions;
  #lines = 0;
  #lineWidth = Number.POSITIVE_INFINITY;
  width = 0;

  constructor(options: CaptionOptions) {
    this.#options = options;
  }

  /** Returns whether the words so far fit into the lines. */
  add({ width, space }: CaptionWord): boolean {
    if (this.#lineWidth + space + width <= this.#options.maxLineLength) this.#lineWidth += space + width;
    else {
      this.#lines += 1;
      this.#lineWidth = width;
    }
    this.width += space + width;
    return this.#lines <= this.#options.maxLines;
  }
}

type Part = { from: number; end: number; width: number };

function costOf(words: CaptionWord[], { from, end, width }: Part, options: CaptionOptions): number {
  const first = words[from]!;
  const next = words[end];
  const availableMs = next ? Math.max(1, next.startMs - first.startMs) : Number.POSITIVE_INFINITY;
  const neededMs = (width / options.maxCharsPerSecond) * 1000;
  const isAlone = end - from === 1 && width < SHORT_WIDTH && next !== undefined;
  return (
    COST.caption +
    endCost(words[end - 1]!, next) +
    (isAlone ? COST.alone : 0) +
    Math.min(1, Math.max(0, neededMs / availableMs - 1)) * COST.tooFast +
    Math.max(0, 1 - availableMs / Math.max(1, options.minDurationMs)) * COST.tooShort
  );
}

/** Least after a sentence, then after a segment, a clause or a pause. */
function endCost(last: CaptionWord, next: CaptionWord | undefined): number {
  if (!next || SENTENCE_END.test(last.text)) return 0;
  if (last.isLast) return COST.segment;
  if (CLAUSE_END.test(last.text)) return COST.clause;
  return next.startMs - last.endMs >= NOTICED_PAUSE_MS ? COST.pause : COST.elsewhere;
}

function timesOf(own: CaptionWord[], next: CaptionWord | undefined, options: CaptionOptions) {
  const { startMs } = own[0]!;
  const spokenUntilMs = own.reduce((latest, { endMs }) => Math.max(latest, endMs), startMs);
  const width = own.reduce((sum, word) => sum + word.space + word.width, 0);
  const wantedMs = Math.max(
    spokenUntilMs + LINGER_MS,
    startMs + options.minDurationMs,
    startMs + Math.round((width / options.maxCharsPerSecond) * 1000),
  );
  const availableMs = (next?.startMs ?? Number.POSITIVE_INFINITY) - startMs;
  const shortestMs = Math.min(SHORTEST_MS, Math.floor(availableMs / 2));
  const latestMs = startMs + Math.min(options.maxDurationMs, Math.max(availableMs - options.minGapMs, shortestMs));
  return { startMs, endMs: Math.max(startMs, Math.min(wantedMs, latestMs)) };
}

/** As few lines as possible; of these divisions the most even one, with a preference for breaks after punctuation. */
function linesOf(own: CaptionWord[], { maxLineLength }: CaptionOptions): string[] {
  // For each end: the least lines, and the least unevenness with these.
  const best: { lines: number; cost: number; from: number }[] = [{ lines: 0, cost: 0, from: 0 }];
  for (let end = 1; end <= own.length; end++) {
    let width = 0;
    for (let from = end - 1; from >= 0; from--) {
      const word = own[from]!;
      width += word.width + (from === end - 1 ? 0 : own[from + 1]!.space);
      if (width > maxLineLength && from < end - 1) break;
      const slack = Math.max(0, maxLineLength - width) / maxLineLength;
      const isOddBreak =
        end < own.length && !CLAUSE_END.test(own[end - 1]!.text) && !SENTENCE_END.test(own[end - 1]!.text);
      const candidate = {
        lines: best[from]!.lines + 1,
        cost: best[from]!.cost + slack ** 2 + (isOddBreak ? 0.05 : 0),
        from,
      };
      const known = best[end];
      const isBetter =
        !known || candidate.lines < known.lines || (candidate.lines === known.lines && candidate.cost < known.cost);
      if (isBetter) best[end] = candidate;
    }
  }
  const lines: string[] = [];
  for (let end = own.length; end > 0; end = best[end]!.from) lines.push(lineOf(own.slice(best[end]!.from, end)));
  return lines.reverse();
}

function lineOf(words: CaptionWord[]): string {
  return words.map(({ text, space }, i) => (i > 0 && space === 1 ? ` ${text}` : text)).join('');
}
