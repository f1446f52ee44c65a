/** How words are made comparable. Titles and numbers stay as they are written. */
export const NORMALISER = 'NFKC, small letters, no punctuation; hyphens divide words';

/** The number of spoken words, and of words that the transcript replaced, left out or added. */
export type WordErrors = { words: number; errors: number };

/** A word that was said and what was heard in its place; null: no word was said, or none was heard. */
export type WordDifference = { said: string | null; heard: string | null };

/** The fewest edits that turn one text into the other, counted in words; case and punctuation do not count. */
export function countWordErrors(said: string, heard: string): WordErrors {
  return { words: wordsOf(said).length, errors: wordDifferences(said, heard).length };
}

/** The errors of several texts in percent of all their words. */
export function wordErrorRate(all: WordErrors[]): number {
  const words = all.reduce((sum, one) => sum + one.words, 0);
  const errors = all.reduce((sum, one) => sum + one.errors, 0);
  return words === 0 ? 0 : (100 * errors) / words;
}

/** The fewest edits that turn one text into the other, in their order. */
export function wordDifferences(said: string, heard: string): WordDifference[] {
  const [wanted, given] = [wordsOf(said), wordsOf(heard)];
  const costs = editCosts(wanted, given);
  const found: WordDifference[] = [];
  let [row, column] = [given.length, wanted.length];
  while (row > 0 || column > 0) {
    const cost = costs[row]![column]!;
    const [one, other] = [wanted[column - 1] ?? null, given[row - 1] ?? null];
    if (row > 0 && column > 0 && cost === costs[row - 1]![column - 1]! + (one === other ? 0 : 1)) {
      if (one !== other) found.push({ said: one, heard: other });
      [row, column] = [row - 1, column - 1];
    } else if (column > 0 && cost === costs[row]![column - 1]! + 1) {
      found.push({ said: one, heard: null });
      column -= 1;
    } else {
      found.push({ said: null, heard: other });
      row -= 1;
    }
  }
  return found.reverse();
}

/** For each number of heard words, and of spoken words, the fewest edits between them. */
function editCosts(wanted: readonly string[], given: readonly string[]): Uint32Array[] {
  const costs = [Uint32Array.from({ length: wanted.length + 1 }, (_, at) => at)];
  for (const word of given) {
    const above = costs.at(-1)!;
    const row = new Uint32Array(above.length);
    row[0] = above[0]! + 1;
    for (const [at, other] of wanted.entries()) {
      row[at + 1] = Math.min(above[at]! + (word === other ? 0 : 1), above[at + 1]! + 1, row[at]! + 1);
    }
    costs.push(row);
  }
  return costs;
}

function wordsOf(text: string): string[] {
  const plain = text.toLowerCase().normalize('NFKC').replaceAll('’', "'");
  return plain.match(/[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}\p{N}]+)*/gu) ?? [];
}
