import { type HeaderSource, TOLERANCE_SECONDS } from '../verification.ts';
import { headerValues } from './read-headers.ts';

/**
 * The receiver's answer to the delivery, and when it was received, in milliseconds since the epoch, by the sender's
 * clock.
 */
export type ReceivedAnswer = { headers: HeaderSource; receivedAt: number };

export type TimeCheck = {
  cause: 'stale_timestamp' | 'clock_skew' | null;
  result: 'ok' | 'wrong' | 'unknown';
  message: string;
  found: string | null;
};

/**
 * Compares the time of signing with the time of receipt, both in milliseconds since the epoch. The `Date` of the
 * receiver's answer gives the time of receipt where it is not known, and tells a delivery that is old from a clock that
 * is wrong.
 */
export function checkTime(
  signedAt: number | null,
  { receivedAt, answer }: { receivedAt: number | null; answer: ReceivedAnswer | null },
): TimeCheck {
  const answerDate = answer && readDate(answer.headers);
  const receiptMs = receivedAt ?? answerDate;
  if (signedAt === null || receiptMs === null) {
    const message = 'The time of signing or of receipt is not known.';
    return { cause: null, result: 'unknown', message, found: null };
  }
  const ageSeconds = toSeconds(receiptMs - signedAt);
  const found = inWords(ageSeconds);
  if (Math.abs(ageSeconds) <= TOLERANCE_SECONDS) {
    return { cause: null, result: 'ok', message: `Received ${found}.`, found };
  }
  // A Date has whole seconds, and the answer was under way.
  const aheadSeconds = answer && answerDate !== null ? toSeconds(answerDate - answer.receivedAt) : 0;
  const isClock = ageSeconds < 0 || Math.abs(ageSeconds - aheadSeconds) <= TOLERANCE_SECONDS;
  const clock = aheadSeconds === 0 ? '' : ` The clock of your server is ${shift(aheadSeconds)}.`;
  const cause = isClock ? 'clock_skew' : 'stale_timestamp';
  return { cause, result: 'wrong', message: `Received ${found}.${clock}`, found };
}

function readDate(headers: HeaderSource): number | null {
  const [date = ''] = headerValues(headers, 'date');
  const ms = Date.parse(date);
  return Number.isNaN(ms) ? null : ms;
}

function toSeconds(ms: number): number {
  return Math.round(ms / 1000);
}

function inWords(ageSeconds: number): string {
  return `${Math.abs(ageSeconds)} s ${ageSeconds < 0 ? 'before' : 'after'} it was signed`;
}

function shift(seconds: number): string {
  return `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`;
}
