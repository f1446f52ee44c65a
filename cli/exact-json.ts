type Context = { source: string };
type ExactJson = {
  parse(text: string, reviver: (key: string, value: unknown, context: Context) => unknown): unknown;
  rawJSON(text: string): unknown;
};

// The declarations of TypeScript lack the proposal "JSON.parse source text access"; Node has it from version 21 on.
const { parse, rawJSON } = JSON as unknown as ExactJson;

/**
 * The value of a JSON text, from which JSON.stringify makes the same numbers: those that a double cannot hold, such as
 * 12345678901234567890, are kept as text.
 */
export function parseExactly(text: string): unknown {
  return parse(text, (_key, value, { source }) =>
    typeof value === 'number' && String(value) !== source ? rawJSON(source) : value,
  );
}

/** A `fetch` that keeps the text of the last JSON answer. */
export class AnswerKeeper {
  #text: string | null = null;

  readonly fetch: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init);
    if (!answer.headers.get('content-type')?.startsWith('application/json')) return answer;
    const text = await answer.text();
    if (answer.ok) this.#text = text;
    return new Response(text, answer);
  };

  /** The last answer as the service has written it; null before the first one. */
  get answer(): unknown {
    return this.#text === null ? null : parseExactly(this.#text);
  }
}
