/** A place in the text of a segment, in UTF-16 units. */
export type Match = { segment: number; from: number; to: number };

/** More matches are not marked. */
export const MAX_MATCHES = 10_000;

/** Each place where the text is found, in any case, in order; at most `MAX_MATCHES`. None for an empty query. */
export function findAll(texts: readonly string[], query: string): Match[] {
  const matches: Match[] = [];
  if (query.trim() === '') return matches;
  const pattern = new RegExp(query.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'giu');
  for (const [segment, text] of texts.entries()) {
    for (const found of text.matchAll(pattern)) {
      matches.push({ segment, from: found.index, to: found.index + found[0].length });
      if (matches.length === MAX_MATCHES) return matches;
    }
  }
  return matches;
}

/** The first match in or behind a segment, or else the first of all; -1 where there is none. */
export function firstMatchFrom(matches: readonly Match[], segment: number): number {
  const at = matches.findIndex((match) => match.segment >= segment);
  return at < 0 && matches.length > 0 ? 0 : at;
}

/** The match `step` places on, which after the last one is the first. -1 where there is none. */
export function stepMatch(matches: readonly Match[], current: number, step: 1 | -1): number {
  if (matches.length === 0) return -1;
  if (current < 0) return step === 1 ? 0 : matches.length - 1;
  return (current + step + matches.length) % matches.length;
}
