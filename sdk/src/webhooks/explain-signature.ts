import type { BodyDifference } from './body-difference.ts';
import { classifyDifference, findDifference } from './body-difference.ts';
import { toHex } from './crypto/bytes.ts';
import { hmacSha256 } from './crypto/web-crypto.ts';
import { SIGNATURE_FIXES } from './signature-fixes.ts';
import type { Guess, Mistake } from './signature-guesses.ts';
import { guessBodies, guessKeys, guessSignedPrefixes } from './signature-guesses.ts';
import type { ReadHeaders } from './signature-headers.ts';
import { headerValues, readSignatureHeaders } from './signature-headers.ts';
import type { Body, HeaderSource } from './verification.ts';
import { TOLERANCE_SECONDS } from './verification.ts';

/** What is wrong with a delivery, or with the check of it. `genuine`: nothing. `unexplained`: no known mistake fits. */
export type SignatureVerdict =
  | 'genuine'
  | 'missing_header'
  | 'header_twice'
  | 'wrong_header_prefix'
  | 'signature_reformatted'
  | 'bad_timestamp'
  | 'stale_timestamp'
  | 'clock_skew'
  | Mistake
  | 'previous_secret'
  | 'secret_of_another_webhook'
  | 'body_changed_at'
  | 'body_truncated'
  | 'header_changed_by_proxy'
  | 'wrong_secret'
  | 'unexplained';

/** A secret that may have signed. */
export type KnownSecret = { secret: string; of: 'this_webhook' | 'previous' | 'another_webhook' };

/** One check by itself: one that is wrong does not change the others. */
export type SignatureCheck = {
  name: 'headers' | 'time' | 'signature' | 'body';
  result: 'ok' | 'wrong' | 'unknown';
  /** What was found, in words. */
  message: string;
};

export type SignatureExplanation = {
  /** The first cause; `genuine` without any. */
  verdict: SignatureVerdict;
  /** All causes, the one to look at first in front. */
  causes: SignatureVerdict[];
  /** What to do about the verdict. */
  fix: string;
  checks: SignatureCheck[];
  /** Where the received body differs from the sent one; null when it does not, or when that is not known. */
  difference: BodyDifference | null;
};

export type SignatureQuestion = {
  /** The webhook's secret, or all secrets that may have signed. */
  secret: string | readonly KnownSecret[];
  /** As received. */
  headers: HeaderSource;
  body: Body;
  /** Milliseconds since the epoch; without it the age is not checked. */
  receivedAt?: number | null;
  /** What the service has sent, where it is known. */
  sent?: { headers: HeaderSource | null; body: Body } | null;
  /** Default: X-Service- */
  headerPrefix?: string;
};

// Of 64 KiB each, in 50 ms.
const MAX_TRIES = 400;

/**
 * Says why a delivery does not verify. It undoes one known mistake after the other, then two at a time, until the signature
 * fits. Neither a secret nor a signature is in the answer.
 */
export async function explainSignature(question: SignatureQuestion): Promise<SignatureExplanation> {
  const { headers, body, sent = null, receivedAt = null, headerPrefix = 'X-Service-' } = question;
  const secrets: readonly KnownSecret[] =
    typeof question.secret === 'string' ? [{ secret: question.secret, of: 'this_webhook' }] : question.secret;
  const read = readSignatureHeaders(headers, headerPrefix);
  const difference = sent && findDifference(sent.body, body);
  const time = checkTime(read.timestampMs, receivedAt);
  const isReadable = read.signatures.length > 0 && read.timestampMs !== null;
  const mistakes = isReadable ? await findMistakes(read, body, secrets) : null;
  const rest = isReadable && mistakes === null ? await explainRest({ read, sent, body, secrets, headerPrefix }) : [];
  const causes = [...new Set([...read.causes, ...(mistakes ?? rest), ...(time.cause ? [time.cause] : [])])];
  const verdict = causes[0] ?? 'genuine';
  const checks = [
    checkHeaders(read),
    time.check,
    checkSignature(isReadable, mistakes),
    checkBody(sent !== null, difference, mistakes),
  ];
  return { verdict, causes, fix: SIGNATURE_FIXES[verdict], checks, difference };
}

function checkHeaders({ causes }: ReadHeaders): SignatureCheck {
  if (causes.length === 0)
    return { name: 'headers', result: 'ok', message: 'Signature and timestamp have their form.' };
  return { name: 'headers', result: 'wrong', message: `Found: ${causes.join(', ')}.` };
}

function checkTime(timestampMs: number | null, receivedAt: number | null) {
  const name = 'time' as const;
  if (timestampMs === null || receivedAt === null) {
    const message = 'The time of signing or of receipt is not known.';
    return { check: { name, result: 'unknown' as const, message }, cause: null };
  }
  const ageSeconds = Math.round((receivedAt - timestampMs) / 1000);
  const message = `Received ${Math.abs(ageSeconds)} s ${ageSeconds < 0 ? 'before' : 'after'} it was signed.`;
  if (Math.abs(ageSeconds) <= TOLERANCE_SECONDS)
    return { check: { name, result: 'ok' as const, message }, cause: null };
  const cause = ageSeconds > 0 ? ('stale_timestamp' as const) : ('clock_skew' as const);
  return { check: { name, result: 'wrong' as const, message }, cause };
}

function checkSignature(isReadable: boolean, mistakes: SignatureVerdict[] | null): SignatureCheck {
  const name = 'signature';
  if (!isReadable) return { name, result: 'unknown', message: 'Without signature and timestamp it cannot be checked.' };
  if (mistakes === null)
    return { name, result: 'wrong', message: 'No known secret made it of this timestamp and body.' };
  if (mistakes.length === 0) return { name, result: 'ok', message: 'It fits the timestamp, the body and the secret.' };
  return { name, result: 'wrong', message: `It fits once this is undone: ${mistakes.join(', ')}.` };
}

function checkBody(
  isSentKnown: boolean,
  difference: BodyDifference | null,
  mistakes: SignatureVerdict[] | null,
): SignatureCheck {
  const name = 'body';
  if (difference) return { name, result: 'wrong', message: `It differs from the sent one at byte ${difference.at}.` };
  if (isSentKnown) return { name, result: 'ok', message: 'It has the bytes that were sent.' };
  if (mistakes === null) return { name, result: 'unknown', message: 'What was sent is not known.' };
  const isChanged = mistakes.some((mistake) => mistake.startsWith('body_'));
  if (isChanged) return { name, result: 'wrong', message: 'The signature fits another form of it.' };
  return { name, result: 'ok', message: 'The signature fits it.' };
}

/** The mistakes that, undone, make the signature fit: none, one or two. Null when no combination does. */
async function findMistakes(
  read: ReadHeaders,
  body: Body,
  secrets: readonly KnownSecret[],
): Promise<SignatureVerdict[] | null> {
  const bodies = guessBodies(body);
  const texts = guessSignedPrefixes(read.timestamp, read.eventId);
  let tries = 0;
  const fits = async (key: string | Uint8Array, text: string, bytes: Uint8Array): Promise<boolean> => {
    if (key.length === 0 || ++tries > MAX_TRIES) return false;
    return read.signatures.includes(toHex(await hmacSha256(key, text, bytes)));
  };
  for (let mistakes = 0; mistakes <= 2; mistakes++) {
    for (const { secret, of } of secrets) {
      // Two mistakes are looked for with the webhook's own secret only.
      if (mistakes === 2 && of !== 'this_webhook') continue;
      for (const combination of combinationsOf(guessKeys(secret), texts, bodies, mistakes)) {
        const [key, text, bytes] = combination;
        if (await fits(key.value, text.value, bytes.value))
          return [...secretCause(of), ...combination.flatMap(mistakeOf)];
      }
    }
  }
  return null;
}

type Combination = [Guess<string | Uint8Array>, Guess<string>, Guess<Uint8Array>];

/** Each combination of a key, a signed text and a body with so many mistakes. */
function* combinationsOf(
  keys: Guess<string | Uint8Array>[],
  texts: Guess<string>[],
  bodies: Guess<Uint8Array>[],
  mistakes: number,
): Generator<Combination> {
  for (const key of keys)
    for (const text of texts)
      for (const bytes of bodies)
        if ([key, text, bytes].filter(({ mistake }) => mistake !== null).length === mistakes) yield [key, text, bytes];
}

function mistakeOf({ mistake }: Guess<unknown>): SignatureVerdict[] {
  return mistake === null ? [] : [mistake];
}

function secretCause(of: KnownSecret['of']): SignatureVerdict[] {
  if (of === 'this_webhook') return [];
  return [of === 'previous' ? 'previous_secret' : 'secret_of_another_webhook'];
}

/** What can be said when the signature fits nothing that was received: from what was sent. */
async function explainRest(known: {
  read: ReadHeaders;
  sent: NonNullable<SignatureQuestion['sent']> | null;
  body: Body;
  secrets: readonly KnownSecret[];
  headerPrefix: string;
}): Promise<SignatureVerdict[]> {
  const { read, sent, body, secrets, headerPrefix } = known;
  if (isCompressed(body)) return ['body_compressed'];
  if (!sent) return ['unexplained'];
  const ofSent = await findMistakes(read, sent.body, secrets);
  if (ofSent) return [...ofSent, classifyDifference(sent.body, body)];
  const isChanged = ['Signature', 'Timestamp'].some((name) => {
    if (sent.headers === null) return false;
    const [before] = headerValues(sent.headers, headerPrefix + name);
    return before !== headerValues(read.source, headerPrefix + name)[0];
  });
  return [isChanged ? 'header_changed_by_proxy' : 'wrong_secret'];
}

function isCompressed(body: Body): boolean {
  return typeof body !== 'string' && body[0] === 0x1f && body[1] === 0x8b;
}
