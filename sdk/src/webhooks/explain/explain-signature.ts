import { type Body, type HeaderSource, TOLERANCE_SECONDS } from '../verification.ts';
import { type BodyDifference, causeOfDifference, findDifference } from './difference.ts';
import { adviceFor, detectFramework, type Framework } from './frameworks.ts';
import type { Mistake } from './guesses/guess.ts';
import { headerValues, readSignatureHeaders, type SignatureHeaders } from './read-headers.ts';
import { findMistakes, type KnownSecret, lookAtBody, type SecretCause } from './search.ts';
import { checkTime, type ReceivedAnswer, type TimeCheck } from './time-check.ts';
import { SIGNATURE_FIXES, type SignatureVerdict } from './verdicts.ts';

/** One check by itself: one that is wrong does not change the others. */
export type SignatureCheck = {
  name: 'headers' | 'time' | 'signature' | 'body';
  result: 'ok' | 'wrong' | 'unknown';
  /** What was found, in words. */
  message: string;
  /** What a delivery of the service has there. */
  expected: string;
  /** What this one has there, never a secret or a signature; null when it is not known. */
  found: string | null;
};

export type SignatureExplanation = {
  /** The first cause; `genuine` without any. */
  verdict: SignatureVerdict;
  /** All causes, the one to look at first in front. */
  causes: SignatureVerdict[];
  /** What to do about the verdict; for a body that is not the raw one also how the framework gives it. */
  fix: string;
  /** As it was chosen, or as the headers name it. */
  framework: Framework | null;
  checks: SignatureCheck[];
  /** Where the received body differs from the sent one; null when it does not, or when that is not known. */
  difference: BodyDifference | null;
};

export type SignatureQuestion = {
  /** The webhook's secret, or all secrets that may have signed. */
  secret: string | readonly KnownSecret[];
  /** As received. */
  headers: HeaderSource;
  /** As received. An object that a framework has parsed is explained too. */
  body: Body | object;
  /** Milliseconds since the epoch; without it, and without `answer`, the age is not checked. */
  receivedAt?: number | null;
  /** What the service has sent, where it is known. */
  sent?: { headers: HeaderSource | null; body: Body } | null;
  /** What the receiver has answered, where it is known: tells a clock that is wrong from a delivery that is old. */
  answer?: ReceivedAnswer | null;
  /** Absent: as the headers name it. */
  framework?: Framework | null;
  /** Default: X-Service- */
  headerPrefix?: string;
};

/**
 * Says why a delivery does not verify. It undoes one known mistake after the other, then two at a time, with at most
 * 400 HMACs, until the signature fits. Neither a secret nor a signature is in the answer. Runs in browsers too.
 */
export function explainSignature(question: SignatureQuestion): SignatureExplanation {
  const { headers, sent = null, receivedAt = null, answer = null, headerPrefix = 'X-Service-' } = question;
  const isParsed = typeof question.body !== 'string' && !ArrayBuffer.isView(question.body);
  const body = isParsed ? (JSON.stringify(question.body) ?? '') : (question.body as Body);
  const read = readSignatureHeaders(headers, headerPrefix);
  const delivery: Delivery = { read, headers, body, sent, headerPrefix, secrets: listOf(question.secret) };
  const difference = sent && findDifference(sent.body, body);
  const time = checkTime(read.timestampMs, { receivedAt, answer });
  const isReadable = read.signatures.length > 0 && read.timestampMs !== null;
  const mistakes = isReadable ? findMistakes(read, body, delivery.secrets).mistakes : null;
  const others: SignatureVerdict[] = mistakes ?? (isReadable ? explainRest(delivery, difference) : []);
  // The signature of another scheme has another form too.
  const ofHeaders = read.causes.filter(
    (cause) => cause !== 'signature_reformatted' || !others.includes('wrong_scheme'),
  );
  const all = [...ofHeaders, ...(isParsed ? ['body_parsed' as const] : []), ...others, ...causeOf(time)];
  const causes = [...new Set<SignatureVerdict>(all)];
  const verdict = causes[0] ?? 'genuine';
  const framework = question.framework ?? detectFramework([...(answer ? [answer.headers] : []), headers]);
  return {
    verdict,
    causes,
    fix: fixOf(verdict, framework),
    framework,
    checks: [
      checkHeaders(read, headerPrefix),
      { name: 'time', result: time.result, message: time.message, expected: EXPECTED_AGE, found: time.found },
      checkSignature(read, isReadable, mistakes),
      checkBody({ body, sent, isParsed }, difference, mistakes),
    ],
    difference,
  };
}

type Sent = NonNullable<SignatureQuestion['sent']>;
type Delivery = {
  read: SignatureHeaders;
  headers: HeaderSource;
  body: Body;
  sent: Sent | null;
  headerPrefix: string;
  secrets: readonly KnownSecret[];
};
type Found = (Mistake | SecretCause)[] | null;

const EXPECTED_AGE = `received within ${TOLERANCE_SECONDS} s of being signed`;

function listOf(secret: SignatureQuestion['secret']): readonly KnownSecret[] {
  return typeof secret === 'string' ? [{ secret, of: 'this_webhook' }] : secret;
}

function causeOf({ cause }: TimeCheck): SignatureVerdict[] {
  return cause === null ? [] : [cause];
}

function fixOf(verdict: SignatureVerdict, framework: Framework | null): string {
  const advice = framework && adviceFor(framework, verdict);
  return advice ? `${SIGNATURE_FIXES[verdict]} ${advice}` : SIGNATURE_FIXES[verdict];
}

/** What can be said when the signature fits nothing that was received: from the body, and from what was sent. */
function explainRest(
  { read, headers, body, sent, headerPrefix, secrets }: Delivery,
  difference: BodyDifference | null,
): SignatureVerdict[] {
  const seen = lookAtBody(body);
  if (seen === 'body_compressed') return [seen];
  // The time that was signed is not known: nothing can fit.
  if (!sent) return seen ? [seen] : read.causes.includes('bad_timestamp') ? [] : ['unexplained'];
  const ofSent = findMistakes(read, sent.body, secrets).mistakes;
  const isLost = seen === 'body_parsed' || seen === 'body_empty';
  const changed: SignatureVerdict[] = difference ? [isLost ? seen : causeOfDifference(difference.kind)] : [];
  if (ofSent) return [...ofSent, ...changed];
  const isSame = ['Signature', 'Timestamp'].map((name) => {
    const [before] = headerValues(sent.headers ?? {}, headerPrefix + name);
    return before === undefined || before === headerValues(headers, headerPrefix + name)[0];
  });
  if (isSame.includes(false))
    return [...(read.causes.length > 0 ? [] : ['header_changed_by_proxy' as const]), ...changed];
  // Signed by a secret that is no longer known, but as it was sent: what differs is the body.
  return sent.headers !== null && difference ? changed : ['wrong_secret' as const];
}

function checkHeaders({ causes, found }: SignatureHeaders, prefix: string): SignatureCheck {
  const expected = `${prefix}Signature: 64 lower-case hex digits; ${prefix}Timestamp: ISO 8601`;
  if (causes.length === 0) {
    return { name: 'headers', result: 'ok', message: 'Signature and timestamp have their form.', expected, found };
  }
  return { name: 'headers', result: 'wrong', message: `Found: ${causes.join(', ')}.`, expected, found };
}

function checkSignature({ causes }: SignatureHeaders, isReadable: boolean, mistakes: Found): SignatureCheck {
  const expected = 'HMAC-SHA256 of the timestamp, a dot and the raw body, under the whole secret';
  const check = (result: SignatureCheck['result'], message: string, found: string | null): SignatureCheck => ({
    name: 'signature',
    result,
    message,
    expected,
    found,
  });
  if (!isReadable) return check('unknown', 'Without signature and timestamp it cannot be checked.', null);
  if (mistakes === null && causes.includes('bad_timestamp')) {
    return check('unknown', 'The time that was signed is not known.', null);
  }
  if (mistakes === null) return check('wrong', 'No known secret made it of this timestamp and body.', null);
  if (mistakes.length === 0) return check('ok', 'It fits the timestamp, the body and the secret.', expected);
  return check('wrong', `It fits once this is undone: ${mistakes.join(', ')}.`, mistakes.join(', '));
}

function checkBody(
  { body, sent, isParsed }: { body: Body; sent: Sent | null; isParsed: boolean },
  difference: BodyDifference | null,
  mistakes: Found,
): SignatureCheck {
  const check = (result: SignatureCheck['result'], message: string, found: string | null): SignatureCheck => ({
    name: 'body',
    result,
    message,
    found,
    expected: difference ? `${difference.sentBytes} bytes, as sent` : 'the bytes that were sent',
  });
  if (isParsed) return check('wrong', 'It is an object that was parsed, not the raw body.', 'an object');
  if (difference) {
    const { at, kind, receivedBytes } = difference;
    return check('wrong', `It differs from the sent one at byte ${at} (${kind}).`, `${receivedBytes} bytes`);
  }
  if (sent) return check('ok', 'It has the bytes that were sent.', 'the same bytes');
  const undone = mistakes?.filter((mistake) => mistake.startsWith('body_')) ?? [];
  if (undone.length > 0) return check('wrong', 'The signature fits another form of it.', undone.join(', '));
  if (mistakes !== null) return check('ok', 'The signature fits it.', 'the same bytes');
  const seen = lookAtBody(body);
  if (seen === 'body_empty') return check('wrong', 'It is empty.', '0 bytes');
  if (seen) return check('wrong', `It has the form of: ${seen}.`, seen);
  return check('unknown', 'What was sent is not known.', null);
}
