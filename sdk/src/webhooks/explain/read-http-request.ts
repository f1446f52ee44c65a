import { toBytes, toLatin1, toText } from '../crypto/bytes.ts';
import type { Body } from '../verification.ts';

/** A request as text: its headers, each with all its values, and its body. */
export type HttpRequest = { headers: Record<string, string[]>; body: Uint8Array };

/**
 * Reads a request that was saved or pasted: an HTTP message, with or without its first line, or lines of `curl -v`.
 * Null for another text. A line end that an editor has added after the body is left out, when Content-Length says so.
 */
export function readHttpRequest(message: Body): HttpRequest | null {
  const bytes = toBytes(message);
  const [, head = '', blank = ''] = /^([\s\S]*?)(\r?\n\r?\n|$)/.exec(toLatin1(bytes)) ?? [];
  const lines = toText(bytes.subarray(0, head.length))
    .split(/\r?\n/)
    .map((line) => line.replace(/^> /, ''))
    .filter((line, index) => line !== '' && !(index === 0 && /^[A-Z]+ \S+( HTTP\/\S+)?$/.test(line)));
  const headers: Record<string, string[]> = Object.create(null);
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):(.*)$/.exec(line) ?? [];
    if (name === undefined) return null;
    (headers[name] ??= []).push(value!.trim());
  }
  if (lines.length === 0) return null;
  return { headers, body: cutAtLength(bytes.subarray(head.length + blank.length), headers) };
}

function cutAtLength(body: Uint8Array, headers: Record<string, string[]>): Uint8Array {
  const name = Object.keys(headers).find((each) => each.toLowerCase() === 'content-length');
  const length = Number(name === undefined ? Number.NaN : headers[name]![0]);
  const rest = toText(body.subarray(length));
  return length < body.length && /^\r?\n$/.test(rest) ? body.subarray(0, length) : body;
}
