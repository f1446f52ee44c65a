import { decodeBase64, toHex } from './crypto/bytes.ts';
import type { HeaderSource } from './verification.ts';

export type HeaderCause =
  | 'missing_header'
  | 'header_twice'
  | 'wrong_header_prefix'
  | 'signature_reformatted'
  | 'bad_timestamp';

export type ReadHeaders = {
  source: HeaderSource;
  /** In lower-case hex: the signature, and the one by the previous secret. */
  signatures: string[];
  timestamp: string;
  /** Null: there is no timestamp, or it is no ISO 8601 time. */
  timestampMs: number | null;
  /** Empty when it is missing. */
  eventId: string;
  causes: HeaderCause[];
};

const HEX = /^[0-9a-f]{64}$/;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;
// A comma before another signature or time; a comma inside of a value separates nothing.
const SEPARATOR = /,\s*(?=[0-9a-f]{64}(?:,|$)|\d{4}-\d{2}-)/i;
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

/** The signature, time and id of a delivery, as far as they can be read, and what is wrong with their form. */
export function readSignatureHeaders(source: HeaderSource, prefix: string): ReadHeaders {
  const causes: HeaderCause[] = [];
  const found = findPrefix(source, prefix);
  if (found !== prefix) causes.push(found === null ? 'missing_header' : 'wrong_header_prefix');
  const valuesOf = (name: string) => headerValues(source, (found ?? prefix) + name);
  const given = valuesOf('Signature');
  const timestamps = valuesOf('Timestamp');
  if (given.length > 1 || timestamps.length > 1) causes.push('header_twice');
  if (found !== null && timestamps.length === 0) causes.push('missing_header');
  const readable = [...given, ...valuesOf('Signature-Previous')].map(readSignature);
  if (given.some((text) => !HEX.test(text))) causes.push('signature_reformatted');
  const [timestamp = ''] = timestamps;
  const timestampMs = ISO_TIME.test(timestamp) ? Date.parse(timestamp) : Number.NaN;
  if (timestamps.length > 0 && Number.isNaN(timestampMs)) causes.push('bad_timestamp');
  return {
    ...{ source, causes, timestamp },
    signatures: readable.filter((hex) => hex !== null),
    timestampMs: Number.isNaN(timestampMs) ? null : timestampMs,
    eventId: valuesOf('Event-Id')[0] ?? headerValues(source, 'webhook-id')[0] ?? '',
  };
}

/** All values of a header, those in one line separated by commas too. */
export function headerValues(source: HeaderSource, name: string): string[] {
  const wanted = name.toLowerCase();
  const lines =
    typeof source['get'] === 'function'
      ? [(source as { get(name: string): string | null }).get(name) ?? '']
      : Object.entries(source as Record<string, string | readonly string[] | undefined>)
          .filter(([key]) => key.toLowerCase() === wanted)
          .flatMap(([, value]) => value ?? []);
  return lines.flatMap((line) => line.split(SEPARATOR)).filter((value) => value !== '');
}

/** The prefix of the headers: the expected one, or another one under which there is a signature. Null without any. */
function findPrefix(source: HeaderSource, expected: string): string | null {
  if (headerValues(source, `${expected}Signature`).length > 0) return expected;
  if (typeof source['get'] === 'function') return null;
  for (const name of Object.keys(source)) {
    const [, prefix] = /^(.*-)signature$/i.exec(name) ?? [];
    const isOther = prefix !== undefined && prefix.toLowerCase() !== 'webhook-';
    if (isOther && headerValues(source, name).some((value) => readSignature(value) !== null)) return prefix;
  }
  return null;
}

/** A signature as lower-case hex: from upper case, from base64, or with the name of an algorithm or version before it. */
function readSignature(text: string): string | null {
  const bare = text
    .trim()
    .replace(/^["']|["']$/g, '')
    .replace(/^(?:sha256|hmac-sha256|v\d|hex)[=:,\s]\s*/i, '');
  if (HEX.test(bare.toLowerCase())) return bare.toLowerCase();
  if (!BASE64.test(bare)) return null;
  const bytes = decodeBase64(bare);
  return bytes && toHex(bytes);
}
