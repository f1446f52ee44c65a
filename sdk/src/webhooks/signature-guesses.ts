import { decodeBase64, fromLatin1, toBytes, toLatin1, toText } from './crypto/bytes.ts';
import type { Body } from './verification.ts';

/** Something that happened to a delivery on its way, or a mistake in the check of it. */
export type Mistake =
  | 'secret_whitespace'
  | 'secret_prefix_cut'
  | 'secret_decoded'
  | 'wrong_scheme'
  | 'body_parsed'
  | 'body_whitespace'
  | 'body_double_encoded'
  | 'body_charset'
  | 'body_base64'
  | 'body_compressed';

/** A value that may have been signed; `mistake` is what turned it into the given one, null for the given one itself. */
export type Guess<Value> = { value: Value; mistake: Mistake | null };

const PREFIX = 'whsec_';

/** Keys that a secret may stand for, the right one first. */
export function guessKeys(secret: string): Guess<string | Uint8Array>[] {
  const trimmed = secret.replace(/^[\s"'\ufeff]+|[\s"'\ufeff]+$/g, '');
  const bare = trimmed.startsWith(PREFIX) ? trimmed.slice(PREFIX.length) : trimmed;
  return distinct<string | Uint8Array>([
    { value: secret, mistake: null },
    { value: trimmed, mistake: 'secret_whitespace' },
    ...['\n', '\r\n', ' '].map((end) => ({ value: trimmed + end, mistake: 'secret_whitespace' as const })),
    { value: PREFIX + bare, mistake: 'secret_prefix_cut' },
    { value: bare, mistake: 'secret_prefix_cut' },
    { value: decodeBase64(bare) ?? '', mistake: 'secret_decoded' },
  ]);
}

/** What is signed together with a body, as text before it: ours first, then what other senders sign. */
export function guessSignedPrefixes(timestamp: string, id: string): Guess<string>[] {
  const seconds = String(Math.floor(Date.parse(timestamp) / 1000));
  return distinct([
    { value: `${timestamp}.`, mistake: null },
    { value: '', mistake: 'wrong_scheme' },
    { value: `${id}.${timestamp}.`, mistake: 'wrong_scheme' },
    { value: `${id}.${seconds}.`, mistake: 'wrong_scheme' },
    { value: `${seconds}.`, mistake: 'wrong_scheme' },
    { value: timestamp, mistake: 'wrong_scheme' },
  ]);
}

/** Bodies that may have been sent, when this one was received: each undoes one change that servers make. */
export function guessBodies(body: Body): Guess<Uint8Array>[] {
  const bytes = toBytes(body);
  const text = toText(bytes);
  const guesses: Guess<string | Uint8Array>[] = [
    { value: bytes, mistake: null },
    ...guessWhitespace(text),
    ...guessEncodings(bytes, text),
    ...guessJson(text),
  ];
  return distinct(guesses.map(({ value, mistake }) => ({ value: toBytes(value), mistake })));
}

function guessWhitespace(text: string): Guess<string>[] {
  const bare = text.replace(/^\ufeff/, '');
  const trimmed = bare.trim();
  const values = [
    bare,
    trimmed,
    `${trimmed}\n`,
    `${trimmed}\r\n`,
    text.replaceAll('\r\n', '\n'),
    text.replaceAll('\n', '\r\n'),
  ];
  return values.map((value) => ({ value, mistake: 'body_whitespace' }));
}

function guessEncodings(bytes: Uint8Array, text: string): Guess<string | Uint8Array>[] {
  const isBase64 = /^[A-Za-z0-9+/\s]{8,}={0,2}\s*$/.test(text);
  return [
    // UTF-8 that was read as Latin-1 and written as UTF-8.
    { value: fromLatin1(text), mistake: 'body_charset' },
    // Bytes of Latin-1.
    { value: toLatin1(bytes), mistake: 'body_charset' },
    ...(isBase64 ? [{ value: decodeBase64(text) ?? '', mistake: 'body_base64' as const }] : []),
    ...guessForm(text),
  ];
}

/** A body that was read as a form: `+` became a space, and %XX a character. */
function guessForm(text: string): Guess<string>[] {
  const guesses: Guess<string>[] = [{ value: text.replaceAll(' ', '+'), mistake: 'body_charset' }];
  try {
    guesses.push({ value: decodeURIComponent(text.replaceAll('+', ' ')).replace(/=$/, ''), mistake: 'body_charset' });
  } catch {
    // It has % without two digits: it was not encoded so.
  }
  return guesses;
}

/** JSON that was parsed and written again. The service writes it without spaces, and other characters as they are. */
function guessJson(text: string): Guess<string>[] {
  const value = parse(text);
  if (value === undefined) return [];
  if (typeof value === 'string') {
    return [
      { value, mistake: 'body_double_encoded' },
      { value: JSON.stringify(parse(value)) ?? '', mistake: 'body_double_encoded' },
    ];
  }
  return [
    { value: JSON.stringify(value), mistake: 'body_parsed' },
    { value: JSON.stringify(value, null, 2), mistake: 'body_parsed' },
    { value: JSON.stringify(inOrderOfService(value)), mistake: 'body_parsed' },
  ];
}

const ORDER = ['id', 'type', 'created_at', 'metadata', 'data'];

/** The keys of an event in the order in which the service writes them; those inside of `data` stay as they are. */
function inOrderOfService(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const place = (key: string) => (ORDER.includes(key) ? ORDER.indexOf(key) : ORDER.length);
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => place(left) - place(right)));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Without those that equal one before. */
function distinct<Value extends string | Uint8Array>(guesses: Guess<Value>[]): Guess<Value>[] {
  const seen = new Set<string>();
  return guesses.filter(({ value }) => {
    const name = typeof value === 'string' ? `text ${value}` : `bytes ${toLatin1(value)}`;
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}
