/**
 * JSON text that is sent unchanged: a client's metadata (numbers keep their digits, keys their order) and the segments
 * as they were stored. Parsing and serialising it again would lose both.
 */
export class RawJson {
  readonly text: string;

  /** @param text  valid JSON; the caller has checked it */
  constructor(text: string) {
    this.text = text;
  }
}

/** JSON text of a value, like `JSON.stringify`, in which every `RawJson` is written unchanged. */
export function writeJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  // Array.from fills holes, which map would leave out.
  if (Array.isArray(value)) return `[${Array.from(value, (item) => writeJson(item ?? null)).join(',')}]`;
  if (!isPlainObject(value)) return JSON.stringify(value) ?? 'null';
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${writeJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null;
}
