import { readHttpRequest } from '#sdk/webhooks/explain/read-http-request.ts';

/** A request as a receiver got it. */
export type PastedRequest = { headers: Record<string, string[]>; body: string };

/**
 * The headers and the body of a pasted text: raw HTTP, the output of `curl -v`, or the JSON of a function behind a
 * gateway (`headers`, `body`, `isBase64Encoded`). Null when it is none of these.
 */
export function parsePastedRequest(text: string): PastedRequest | null {
  const event = parseGatewayEvent(text);
  if (event) return event;
  const request = readHttpRequest(text.replace(/^\s+/, ''));
  return request && { headers: { ...request.headers }, body: new TextDecoder().decode(request.body) };
}

/** A request as raw HTTP without its first line. */
export function writeRequest({
  headers,
  body,
}: {
  headers: Record<string, string | string[]>;
  body: string | null;
}): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((each) => `${name}: ${each}`));
  return `${lines.join('\n')}\n\n${body ?? ''}`;
}

/** Null when the text is no such JSON. */
function parseGatewayEvent(text: string): PastedRequest | null {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    return null;
  }
  const { headers, body, isBase64Encoded } = (event ?? {}) as Record<string, unknown>;
  if (typeof headers !== 'object' || headers === null || typeof body !== 'string') return null;
  const entries = Object.entries(headers).map(([name, value]): [string, string[]] => [
    name,
    [value].flat().map(String),
  ]);
  return { headers: Object.fromEntries(entries), body: isBase64Encoded === true ? decode(body) : body };
}

/** Text that is not base64 stays as it is: the explanation says so. */
function decode(base64: string): string {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new TextDecoder().decode(bytes);
  } catch {
    return base64;
  }
}
