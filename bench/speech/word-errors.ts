/** How words are made comparable. Titles and numbers stay as they are written. */
export const NORMALISER = 'NFKC, small letters, no punctuation; hyphens divide words';

/** The number of spoken words, and of words that the transcript replaced, left out or added. */
export type WordErrors = { words: number; errors: number };

/** The fewest edits that turn one text into the other, counted in words; case and punctuation do not count. */
export function countWordErrors(said: string, heard: string): WordErrors {
  const wanted = wordsOf(said);
  let row = Array.from({ length: wanted.length + 1 }, (_, at) => at);
  for (const word of wordsOf(heard)) {
    const next = [row[0]! + 1];
    for (const [at, other] of wanted.entries()) {
      next.push(Math.min(row[at]! + (word === other ? 0 : 1), row[at + 1]! + 1, next[at]! + 1));
    }
    row = next;
  }
  return { words: wanted.length, errors: row.at(-1)! };
}

/** The errors of several texts in percent of all their words. */
export function wordErrorRate(all: WordErrors[]): number {
  const words = all.reduce((sum, one) => sum + one.words, 0);
  const errors = all.reduce((sum, one) => sum + one.errors, 0);
  return words === 0 ? 0 : (100 * errors) / words;
}

function wordsOf(text: string): string[] {
  const plain = text.toLowerCase().normalize('NFKC').replaceAll('’', "'");
  return plain.match(/[\p{L}\p{N}]+(?:'[\p{L}\p{N}]+)*/gu) ?? [];
}
