import type { RequestOptions } from './settings.ts';
import type { Method, Transport } from './transport.ts';

/** An answer with a 2xx, its body as text. */
export type RawAnswer = { status: number; headers: Headers; text: string };

/** What a request to any path sends; `body` as JSON. */
export type RawCall = RequestOptions & { query?: object; body?: object };

/** Sends a request to any path. @throws VerbatimError */
export async function sendRaw(http: Transport, method: Method, path: string, call: RawCall = {}): Promise<RawAnswer> {
  return await http.send(method, path, call, async (answer) => ({
    status: answer.status,
    headers: answer.headers,
    text: await answer.text(),
  }));
}
