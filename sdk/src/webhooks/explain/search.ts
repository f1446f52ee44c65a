import { hmacSha256 } from '#node-crypto';
import { toBytes, toHex, toText } from '../crypto/bytes.ts';
import type { Body } from '../verification.ts';
import { guessBodies } from './guesses/bodies.ts';
import type { Guess, Mistake } from './guesses/guess.ts';
import { guessSignings, type Signing } from './guesses/signing.ts';
import type { SignatureHeaders } from './read-headers.ts';

/** A secret that may have signed. */
export type KnownSecret = { secret: string; of: 'this_webhook' | 'previous' | 'another_webhook' };

export type SecretCause = 'previous_secret' | 'secret_of_another_webhook';

/** @property mistakes  that, undone, make the signature fit: none, one or two. Null when no combination does. */
export type SearchResult = { mistakes: (Mistake | SecretCause)[] | null; hmacs: number };

/** The limits of one search: 32 MiB take about 30 ms on a server. */
const MAX_HMACS = 400;
const MAX_HASHED_BYTES = 32 * 1024 * 1024;

const SECRET_CAUSES: Record<KnownSecret['of'], SecretCause[]> = {
  this_webhook: [],
  previous: ['previous_secret'],
  another_webhook: ['secret_of_another_webhook'],
};

/** Undoes no mistake, then one, then two at a time, until one of the signatures fits. */
export function findMistakes(headers: SignatureHeaders, body: Body, secrets: readonly KnownSecret[]): SearchResult {
  let hmacs = 0;
  let hashedBytes = 0;
  for (const { signing, bytes, mistakes } of combinations(headers, body, secrets)) {
    if (hmacs === MAX_HMACS || hashedBytes > MAX_HASHED_BYTES) break;
    hmacs += 1;
    hashedBytes += bytes.length;
    if (headers.signatures.includes(toHex(hmacSha256(signing.key, signing.prefix, bytes)))) return { mistakes, hmacs };
  }
  return { mistakes: null, hmacs };
}

type Combination = { signing: Signing; bytes: Uint8Array; mistakes: (Mistake | SecretCause)[] };

/** A secret of another webhook counts as a mistake. Those of this webhook come first. */
function* combinations(headers: SignatureHeaders, body: Body, secrets: readonly KnownSecret[]): Generator<Combination> {
  // The other bodies are made when the given one does not fit.
  let bodies: Guess<Uint8Array>[] = [{ value: toBytes(body), mistake: null }];
  const known = secrets.map(({ secret, of }) => ({
    signings: guessSignings(secret, headers),
    causes: SECRET_CAUSES[of],
  }));
  known.sort((left, right) => left.causes.length - right.causes.length);
  for (const count of [0, 1, 2]) {
    if (count === 1) bodies = guessBodies(body);
    for (const { signings, causes } of known)
      for (const signing of signings)
        for (const guess of bodies) {
          const mistakes = [...causes, ...signing.mistakes, ...mistakeOf(guess)];
          if (mistakes.length === count) yield { signing, bytes: guess.value, mistakes };
        }
  }
}

function mistakeOf({ mistake }: Guess<unknown>): Mistake[] {
  return mistake === null ? [] : [mistake];
}

/** What else a body tells that fits no guess, without the one that was sent. */
export function lookAtBody(
  body: Body,
): 'body_compressed' | 'body_empty' | 'body_parsed' | 'body_truncated' | 'body_charset' | null {
  const bytes = toBytes(body);
  const [first, second] = bytes;
  const text = toText(bytes);
  // The second: compressed bytes that were read as text.
  if ((first === 0x1f && second === 0x8b) || text.startsWith('\u001f\ufffd')) return 'body_compressed';
  if (text.trim() === '') return 'body_empty';
  // A parsed object was made a string.
  if (text.startsWith('[object ')) return 'body_parsed';
  // What a decoder writes in place of bytes that it cannot read; the service sends none that its text does not have.
  if (text.includes('\ufffd')) return 'body_charset';
  const isCut = text.startsWith('{"id":"') && !text.trimEnd().endsWith('}');
  return isCut ? 'body_truncated' : null;
}
