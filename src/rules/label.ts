// Control characters and marks of writing direction, with which one name can look like another.
const MISLEADING_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A stranger's text as a label for display: one line without misleading characters; null when nothing remains.
 * @param maxChars  in code points
 */
export function cleanLabel(text: string | undefined, maxChars: number): string | null {
  const clean = (text ?? '').replace(MISLEADING_CHARACTERS, '').trim();
  return clean === '' ? null : [...clean].slice(0, maxChars).join('').toWellFormed();
}
