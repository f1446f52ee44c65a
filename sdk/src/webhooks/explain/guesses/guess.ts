/** Something that happened to a delivery on its way, or a mistake in the check of it, that the search can undo. */
export type Mistake =
  | 'secret_whitespace'
  | 'secret_prefix_cut'
  | 'secret_decoded'
  | 'wrong_scheme'
  | 'body_parsed'
  | 'body_whitespace'
  | 'body_bom'
  | 'body_double_encoded'
  | 'body_charset'
  | 'body_base64'
  | 'body_compressed';

/**
 * A value that may have been signed, and the mistake that turned it into the given one; null for the given one itself.
 */
export type Guess<Value> = { value: Value; mistake: Mistake | null };

/** Without those that equal one before. */
export function distinct<Value>(guesses: Guess<Value>[], nameOf: (value: Value) => string): Guess<Value>[] {
  const seen = new Set<string>();
  return guesses.filter(({ value }) => {
    const name = nameOf(value);
    const isNew = !seen.has(name);
    seen.add(name);
    return isNew;
  });
}
