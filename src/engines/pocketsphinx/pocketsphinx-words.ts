import type { Word } from '../engine.ts';

/**
 * One entry of a decoder's best path: a word, a variant such as `and(2)`, or a filler such as `<sil>` and `[NOISE]`.
 */
export type PathEntry = { entry: string; startSeconds: number; endSeconds: number; confidence: number };

/** The words of a best path, without fillers and without the numbers of variants. */
export function wordsOfPath(entries: PathEntry[]): Word[] {
  return entries.filter(({ entry }) => !isFiller(entry)).map(asWord);
}

function isFiller(entry: string): boolean {
  return /^(<.*>|\[.*\]|\+\+.*\+\+)$/.test(entry);
}

function asWord({ entry, startSeconds, endSeconds, confidence }: PathEntry): Word {
  const bounded = Math.min(1, Math.max(0, confidence));
  return {
    text: entry.replace(/\(\d+\)$/, ''),
    startSeconds,
    endSeconds,
    confidence: Math.round(bounded * 1000) / 1000,
  };
}
