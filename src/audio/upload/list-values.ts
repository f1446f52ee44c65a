/**
 * The largest text of a form field that is a list, in bytes of UTF-8: room for 100 keywords with their quotes and
 * escapes.
 */
export const LIST_BYTES = 32 * 1024;

/**
 * The values that one field of a list holds: `["a","b"]`, a JSON array of strings, is as good as a field for each of
 * them. Any other text is one value.
 */
export function listValues(text: string): string[] {
  if (!text.trim().startsWith('[')) return [text];
  try {
    const values: unknown = JSON.parse(text);
    return Array.isArray(values) && values.every((value) => typeof value === 'string') ? values : [text];
  } catch {
    return [text];
  }
}
