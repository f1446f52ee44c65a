import { cleanLabel } from '../rules/label.ts';

const MAX_FILENAME_CHARS = 255;

/** The client's name for a file, for display: at most 255 characters, none of them misleading. Never used as a path. */
export function cleanFilename(filename: string | undefined): string | null {
  return cleanLabel(filename, MAX_FILENAME_CHARS);
}
