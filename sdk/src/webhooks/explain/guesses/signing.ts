import { decodeBase64, toBytes, toHex } from '../../crypto/bytes.ts';
import { SECRET_PREFIX } from '../../verification.ts';
import type { SignatureHeaders } from '../read-headers.ts';
import { distinct, type Guess, type Mistake } from './guess.ts';

/** A key, the text before the body, and the mistakes that lead from them to the right ones. */
export type Signing = { key: Uint8Array; prefix: string; mistakes: Mistake[] };

const BLANK = /^[\s"'\ufeff]+|[\s"'\ufeff]+$/g;

/** Keys and texts that may have been signed with this secret: those without a mistake first. */
export function guessSignings(secret: string, headers: SignatureHeaders): Signing[] {
  if (headers.scheme === 'standard') return [standardSigning(secret, headers)];
  const seconds = String(Math.floor((headers.timestampMs ?? 0) / 1000));
  const standardText = `${headers.eventId}.${seconds}.`;
  const signings = guessKeys(secret).flatMap((key) =>
    guessPrefixes(headers, seconds).map((prefix) => {
      const isStandard = key.mistake === 'secret_decoded' && prefix.value === standardText;
      const mistakes = isStandard ? (['wrong_scheme'] as const) : [key.mistake, prefix.mistake];
      return { key: key.value, prefix: prefix.value, mistakes: mistakes.filter((mistake) => mistake !== null) };
    }),
  );
  return signings.sort((left, right) => left.mistakes.length - right.mistakes.length);
}

function standardSigning(secret: string, { eventId, timestamp }: SignatureHeaders): Signing {
  const trimmed = secret.replace(BLANK, '');
  return {
    key: decoded(trimmed) ?? toBytes(trimmed),
    prefix: `${eventId}.${timestamp}.`,
    mistakes: trimmed === secret ? [] : ['secret_whitespace'],
  };
}

/** Keys that a secret may stand for, the right one first. */
function guessKeys(secret: string): Guess<Uint8Array>[] {
  const trimmed = secret.replace(BLANK, '');
  const bare = trimmed.startsWith(SECRET_PREFIX) ? trimmed.slice(SECRET_PREFIX.length) : trimmed;
  const bytes = decoded(trimmed);
  const guesses: Guess<Uint8Array>[] = [
    { value: toBytes(secret), mistake: null },
    { value: toBytes(trimmed), mistake: 'secret_whitespace' },
    ...['\n', '\r\n', ' '].map((end) => ({ value: toBytes(trimmed + end), mistake: 'secret_whitespace' as const })),
    { value: toBytes(SECRET_PREFIX + bare), mistake: 'secret_prefix_cut' },
    { value: toBytes(bare), mistake: 'secret_prefix_cut' },
    ...(bytes ? [{ value: bytes, mistake: 'secret_decoded' as const }] : []),
  ];
  return distinct(guesses, toHex);
}

function decoded(secret: string): Uint8Array | null {
  return decodeBase64(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret);
}

/** What is signed together with a body, as text before it: ours first, then what other senders sign. */
function guessPrefixes({ timestamp, eventId }: SignatureHeaders, seconds: string): Guess<string>[] {
  const others = [
    '',
    ...(eventId === '' ? [] : [`${eventId}.${seconds}.`, `${eventId}.${timestamp}.`]),
    `${seconds}.`,
    timestamp,
  ];
  const guesses = others.map((value) => ({ value, mistake: 'wrong_scheme' as const }));
  return distinct<string>([{ value: `${timestamp}.`, mistake: null }, ...guesses], (text) => text);
}
