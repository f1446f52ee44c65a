/** A key of a job's metadata and its value as text, or a tag, by which lists of jobs are filtered. */
export type MetadataPair = { key: string; value: string };

// Each is a row of an index: 20 take about a tenth of the time of accepting a job.
const MAX_PAIRS = 20;
const MAX_BYTES = 200;
// Releases that know no tags delete the pairs of a job with it. No pair of the metadata has this key.
const TAG_KEY = '\u0001tag';

/**
 * The pairs by which a job is found: the first strings, numbers and booleans at the top level of its metadata, as text.
 * Numbers are as they were written. Left out are keys and values that are long or that PostgreSQL cannot store.
 * @param metadata  JSON text; null for none
 * @internal  for the test of the pairs without tags
 */
export function metadataPairs(metadata: string | null): MetadataPair[] {
  if (metadata === null) return [];
  const parsed: unknown = JSON.parse(metadata, keepNumberText as (key: string, value: unknown) => unknown);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return [];
  const pairs = Object.entries(parsed).flatMap(([key, value]) => {
    const text = textOf(value);
    return text !== null && isKey(key) && isComparable(text) ? [{ key, value: text }] : [];
  });
  return pairs.slice(0, MAX_PAIRS);
}

/** The pair by which the jobs with a tag are found. */
export function tagPair(tag: string): MetadataPair {
  return { key: TAG_KEY, value: tag };
}

/** All pairs by which a job is found. */
export function pairsOf({ metadata, tags }: { metadata: string | null; tags: string[] }): MetadataPair[] {
  return [...metadataPairs(metadata), ...tags.map(tagPair)];
}

/** Whether a pair of the metadata can be found. */
export function canBeFound({ key, value }: MetadataPair): boolean {
  return isKey(key) && isComparable(value);
}

function isKey(text: string): boolean {
  return text !== TAG_KEY && isComparable(text);
}

/** At most 200 bytes, without U+0000 and lone surrogates. */
function isComparable(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_BYTES && !text.includes('\0') && text.isWellFormed();
}

class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function keepNumberText(_key: string, value: unknown, context: { source: string }): unknown {
  return typeof value === 'number' ? new NumberText(context.source) : value;
}

function textOf(value: unknown): string | null {
  if (value instanceof NumberText) return value.text;
  if (typeof value === 'string') return value;
  return typeof value === 'boolean' ? String(value) : null;
}
