/** A word's number, and where it begins and ends in the text. */
export type PlacedWord = { word: number; from: number; to: number };

// A word that the text spells differently must not be found again far behind its place.
const MAX_GAP_CHARS = 24;

/**
 * Where the words of a segment stand in its text, in their order; positions are UTF-16 units. A word that the text does
 * not hold near its place is left out.
 */
export function placeWords(text: string, words: readonly { text: string }[]): PlacedWord[] {
  const placed: PlacedWord[] = [];
  let end = 0;
  // Each word that is left out allows a longer gap before the next one.
  let skippedChars = 0;
  for (const [word, { text: spelled }] of words.entries()) {
    const wanted = spelled.trim();
    const from = wanted === '' ? -1 : text.indexOf(wanted, end);
    if (from < 0 || from > end + MAX_GAP_CHARS + skippedChars) {
      skippedChars += wanted.length + 1;
      continue;
    }
    skippedChars = 0;
    end = from + wanted.length;
    placed.push({ word, from, to: end });
  }
  return placed;
}
