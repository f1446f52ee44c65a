import { decodeBase64, toHex } from '../crypto/bytes.ts';
import { type HeaderSource, ISO_TIME } from '../verification.ts';

export type HeaderCause =
  | 'missing_header'
  | 'header_twice'
  | 'wrong_header_prefix'
  | 'wrong_scheme'
  | 'signature_reformatted'
  | 'bad_timestamp';

/** What the headers of a delivery say, as far as they can be read. */
export type SignatureHeaders = {
  /** `standard`: only those of Standard Webhooks are there. */
  scheme: 'own' | 'standard';
  /** In lower-case hex: the signature, and the one by the previous secret. */
  signatures: string[];
  /** As it was signed: another spelling of the time is written back. Empty when there is none. */
  timestamp: string;
  /** Null: there is no timestamp, or it is no time. */
  timestampMs: number | null;
  /** Empty when it is missing. */
  eventId: string;
  causes: HeaderCause[];
  /** The form of signature and timestamp in words, without their values. */
  found: string;
};

const HEX = /^[0-9a-f]{64}$/;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;
// A comma before another signature or time; that of `v1,` and of a date separates nothing.
const SEPARATOR = /(?<!\bv\d),\s*(?=[0-9a-f]{64}(?:,|$)|\d{4}-\d{2}-)/i;
const ALGORITHM = /^(?:sha256|hmac-sha256|v\d|hex)[=:,\s]\s*/i;

/** The signature, time and id of a delivery, and what is wrong with their form. */
export function readSignatureHeaders(source: HeaderSource, prefix: string): SignatureHeaders {
  const found = findPrefix(source, prefix);
  if (found === null && headerValues(source, 'webhook-signature').length > 0) return readStandardHeaders(source);
  const valuesOf = (name: string) => headerValues(source, (found ?? prefix) + name);
  const given = valuesOf('Signature');
  const times = valuesOf('Timestamp');
  const time = readTime(times[0] ?? '');
  const isMissing = given.length === 0 || times.length === 0;
  const causes: [HeaderCause, boolean][] = [
    ['wrong_header_prefix', found !== null && found !== prefix],
    ['header_twice', given.length > 1 || times.length > 1],
    ['missing_header', isMissing],
    ['signature_reformatted', given.some((text) => !HEX.test(text))],
    ['bad_timestamp', times.length > 0 && time.form !== 'ISO 8601'],
  ];
  return {
    scheme: 'own',
    signatures: readSignatures([...given, ...valuesOf('Signature-Previous')]),
    timestamp: time.text,
    timestampMs: time.ms,
    eventId: valuesOf('Event-Id')[0] ?? headerValues(source, 'webhook-id')[0] ?? '',
    causes: causes.filter(([, isFound]) => isFound).map(([cause]) => cause),
    found: `${found ?? prefix}Signature: ${formsOf(given)}; ${found ?? prefix}Timestamp: ${times.length === 0 ? 'missing' : time.form}`,
  };
}

function readStandardHeaders(source: HeaderSource): SignatureHeaders {
  const valuesOf = (name: string) => headerValues(source, `webhook-${name}`);
  const given = valuesOf('signature').flatMap((text) => text.split(' '));
  const [time = ''] = valuesOf('timestamp');
  const [eventId = ''] = valuesOf('id');
  const isSeconds = /^\d{10}$/.test(time);
  return {
    scheme: 'standard',
    signatures: readSignatures(given),
    timestamp: time,
    timestampMs: isSeconds ? Number(time) * 1000 : null,
    eventId,
    causes: ['wrong_scheme', ...(time === '' || eventId === '' ? (['missing_header'] as const) : [])],
    found: `webhook-signature: ${formsOf(given)}; webhook-timestamp: ${time === '' ? 'missing' : readTime(time).form}`,
  };
}

/** A name in lower case, also as Django, Rack and PHP write it: `HTTP_X_SERVICE_SIGNATURE`. */
function plainName(name: string): string {
  const lower = name.toLowerCase();
  return lower.startsWith('http_') ? lower.slice('http_'.length).replaceAll('_', '-') : lower;
}

/** All values of a header, those in one line separated by commas too. */
export function headerValues(source: HeaderSource, name: string): string[] {
  const wanted = plainName(name);
  const lines =
    typeof source['get'] === 'function'
      ? [(source as { get(name: string): string | null }).get(name) ?? '']
      : Object.entries(source as Record<string, string | readonly string[] | undefined>)
          .filter(([key]) => plainName(key) === wanted)
          .flatMap(([, value]) => value ?? []);
  return lines.flatMap((line) => String(line).split(SEPARATOR)).filter((value) => value !== '');
}

/** The prefix of the headers: the expected one, or another one under which there is a signature. Null without any. */
function findPrefix(source: HeaderSource, expected: string): string | null {
  if (headerValues(source, `${expected}Signature`).length > 0) return expected;
  for (const name of headerNames(source)) {
    const [, prefix] = /^(|.*-)signature$/i.exec(/^http_/i.test(name) ? plainName(name) : name) ?? [];
    const isOther = prefix !== undefined && prefix.toLowerCase() !== 'webhook-';
    if (isOther && readSignatures(headerValues(source, name)).length > 0) return prefix;
  }
  return null;
}

/** Empty for a source that tells no names. */
function headerNames(source: HeaderSource): string[] {
  if (typeof source['get'] !== 'function') return Object.keys(source);
  return 'keys' in source ? [...(source as unknown as { keys(): Iterable<string> }).keys()] : [];
}

/**
 * Those that can be read, in lower-case hex:
 * from upper case, from base64, or after the name of an algorithm or version.
 */
function readSignatures(texts: readonly string[]): string[] {
  return texts.map(bareSignature).flatMap((bare) => {
    if (HEX.test(bare.toLowerCase())) return [bare.toLowerCase()];
    const bytes = BASE64.test(bare) ? decodeBase64(bare) : null;
    return bytes ? [toHex(bytes)] : [];
  });
}

function bareSignature(text: string): string {
  return text
    .trim()
    .replace(/^["']|["']$/g, '')
    .replace(ALGORITHM, '');
}

function formsOf(texts: readonly string[]): string {
  return texts.length === 0 ? 'missing' : texts.map(formOf).join(' and ');
}

/** The form of a signature in words: its value may be a valid one. */
function formOf(text: string): string {
  if (HEX.test(text)) return '64 lower-case hex digits';
  const bare = bareSignature(text);
  const [algorithm = ''] = ALGORITHM.exec(text.trim()) ?? [];
  const before = algorithm === '' ? '' : `${algorithm.trim()} and `;
  if (HEX.test(bare)) return `${before}64 lower-case hex digits`;
  if (HEX.test(bare.toLowerCase())) return `${before}64 hex digits in upper case`;
  if (BASE64.test(bare)) return `${before}base64 of 32 bytes`;
  return `${text.length} characters that are no signature`;
}

type ReadTime = { text: string; ms: number | null; form: string };

/** A time as the service writes it. Another form loses the milliseconds or not; without them nothing fits. */
function readTime(text: string): ReadTime {
  if (ISO_TIME.test(text)) {
    const ms = Date.parse(text);
    return Number.isNaN(ms) ? { text, ms: null, form: 'no time' } : { text, ms, form: 'ISO 8601' };
  }
  const [ms, form] = timeInAnotherForm(text);
  if (Number.isNaN(new Date(ms).getTime())) return { text, ms: null, form: text === '' ? 'missing' : 'no time' };
  return { text: new Date(ms).toISOString(), ms, form };
}

function timeInAnotherForm(text: string): [ms: number, form: string] {
  if (/^\d{13}$/.test(text)) return [Number(text), 'milliseconds since 1970'];
  if (/^\d{10}(\.\d+)?$/.test(text)) return [Math.round(Number(text) * 1000), 'seconds since 1970'];
  return [/\d{4}/.test(text) ? Date.parse(text) : Number.NaN, 'a time in another form'];
}
