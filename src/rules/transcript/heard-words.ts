import { NO_SPACES } from '../text/scripts.ts';

/** The share of the spoken words that a text holds, 0 to 1, whatever their order, case and punctuation. */
export function heardShare(spoken: string, heard: string): number {
  const left = wordsOf(heard);
  const expected = wordsOf(spoken);
  let found = 0;
  for (const word of expected) {
    const at = left.indexOf(word);
    if (at === -1) continue;
    left.splice(at, 1);
    found += 1;
  }
  return expected.length === 0 ? 1 : found / expected.length;
}

/** In writing without spaces each character. */
function wordsOf(text: string): string[] {
  const runs = text.toLowerCase().match(/[\p{L}\p{M}\p{N}']+/gu) ?? [];
  return runs.flatMap((run) => (NO_SPACES.test(run) ? [...run] : [run]));
}
