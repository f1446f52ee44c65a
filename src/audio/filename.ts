const MAX_FILENAME_CHARS = 255;

// Control characters and marks of writing direction, with which one name can look like another.
const MISLEADING_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The client's name for a file, for display: at most 255 characters, none of them misleading. Never used as a path. */
export function cleanFilename(filename: string | undefined): string | null {
  const clean = (filename ?? '').replace(MISLEADING_CHARACTERS, '').trim();
  return clean === '' ? null : [...clean].slice(0, MAX_FILENAME_CHARS).join('').toWellFormed();
}
