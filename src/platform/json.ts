import { randomUUID } from 'node:crypto';

// Stands for a text while JSON.stringify runs. Nobody outside of the process knows it, so that no client can send it.
const MARK = randomUUID();
const MARKED = new RegExp(`"${MARK} (\\d+)"`, 'g');

/** The texts of the value that is being written; null at all other times. */
let texts: string[] | null = null;

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

  /** Called by JSON.stringify. */
  toJSON(): unknown {
    return texts ? `${MARK} ${texts.push(this.text) - 1}` : JSON.parse(this.text);
  }
}

/** JSON text of a value, like `JSON.stringify`, in which every `RawJson` is written unchanged. */
export function writeJson(value: unknown): string {
  const raw: string[] = [];
  texts = raw;
  try {
    const json = JSON.stringify(value) ?? 'null';
    return raw.length === 0 ? json : json.replace(MARKED, (_, index) => raw[Number(index)]!);
  } finally {
    texts = null;
  }
}
