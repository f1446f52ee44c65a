/** Characters of the scripts that are written without spaces between words. */
export const NO_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

// Made at its first use: the dictionaries of ICU take 1 MB.
let segmenter: Intl.Segmenter | undefined;

/** The parts of a text between the borders of words, by the rules of Unicode and the dictionaries of ICU. */
export function wordSegments(text: string): Intl.SegmentData[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  return [...segmenter.segment(text)];
}
