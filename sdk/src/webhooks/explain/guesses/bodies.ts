import { decodeBase64, fromLatin1, toBytes, toLatin1, toText } from '../../crypto/bytes.ts';
import type { Body } from '../../verification.ts';
import { distinct, type Guess, type Mistake } from './guess.ts';
import { guessJson } from './json.ts';

// The characters of 0x80 to 0x9f in Windows-1252, which is what browsers and many servers mean by Latin-1.
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
const BASE64 = /^[A-Za-z0-9+/]{8,}={0,2}$/;
const SPACE = /\s+/g;

/** A longer body is taken as it is: each guess copies it several times. */
const MAX_GUESSED_BYTES = 256 * 1024;

/**
 * Bodies that may have been sent, when this one was received: each undoes one change that servers make. Only the given
 * one when it has more than 256 KiB.
 */
export function guessBodies(body: Body): Guess<Uint8Array>[] {
  const bytes = toBytes(body);
  if (bytes.length > MAX_GUESSED_BYTES) return [{ value: bytes, mistake: null }];
  const text = toText(bytes);
  const guesses: Guess<Body>[] = [
    { value: bytes, mistake: null },
    ...as('body_bom', text.startsWith('\ufeff') ? [text.slice(1)] : []),
    ...as('body_whitespace', otherSpaces(text)),
    ...as('body_parsed', guessJson(text)),
    ...as('body_double_encoded', innerTexts(text)),
    ...as('body_base64', BASE64.test(text.replace(SPACE, '')) ? [decodeBase64(text) ?? ''] : []),
    ...as('body_charset', [...otherCharsets(bytes, text), ...formsOf(text)]),
  ];
  return distinct(
    guesses.map(({ value, mistake }) => ({ value: toBytes(value), mistake })),
    toLatin1,
  );
}

function as(mistake: Mistake, values: Body[]): Guess<Body>[] {
  return values.map((value) => ({ value, mistake }));
}

function otherSpaces(text: string): string[] {
  const bare = text.replace(/^\ufeff/, '');
  const trimmed = bare.trim();
  const ends = [bare, trimmed, `${trimmed}\n`, `${trimmed}\r\n`];
  return [...ends, text.replaceAll('\r\n', '\n'), text.replaceAll('\n', '\r\n')];
}

/** A JSON string that holds the body: a handler has serialised text that was JSON already. */
function innerTexts(text: string): string[] {
  const inner = parsedOrNull(text);
  return typeof inner === 'string' ? [inner, ...guessJson(inner)] : [];
}

function otherCharsets(bytes: Uint8Array, text: string): Uint8Array[] {
  const isNarrow = /^[\0-\xff]*$/.test(text);
  const narrowed = text.replace(/[^\0-\x7f]/g, (character) => {
    const at = WINDOWS_1252.indexOf(character);
    return at < 0 ? character : String.fromCharCode(0x80 + at);
  });
  return [
    // UTF-8 that was read as Latin-1 or Windows-1252, and written as UTF-8.
    ...(isNarrow ? [fromLatin1(text)] : []),
    ...(/^[\0-\xff]*$/.test(narrowed) ? [fromLatin1(narrowed)] : []),
    // Bytes of Latin-1.
    toBytes(toLatin1(bytes)),
  ];
}

/** A body that was read as a form: `+` became a space, and %XX a character. */
function formsOf(text: string): string[] {
  const spaced = text.replaceAll(' ', '+');
  try {
    return [spaced, decodeURIComponent(text.replaceAll('+', ' ')).replace(/=$/, '')];
  } catch {
    // It has % without two digits: it was not encoded so.
    return [spaced];
  }
}

function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
