/** A stored Idempotency-Key. */
export type StoredKey = {
  /** Hash of the method and URL of the request that took the key. */
  route: string;
  /** Of that request's body; null until it was read to its end and something was written. */
  fingerprint: string | null;
  isAnswered: boolean;
  /** The process that holds the key has not renewed its lease. */
  isLeaseOver: boolean;
  /** Its retention has ended. */
  isExpired: boolean;
  /** The job that the request created, where it was committed before the answer was saved. */
  jobId: string | null;
};

/**
 * - `run`: the key is free, or its earlier request stored nothing
 * - `replay`: the same request was answered: send that answer again
 * - `resume`: the same request created a job and crashed before its answer: answer with that job
 * - `in_progress`: another request holds the key now
 * - `conflict`: the key belongs to another request
 * - `read_body`: the body is needed for the decision
 */
export type KeyDecision = 'run' | 'replay' | 'resume' | 'in_progress' | 'conflict' | 'read_body';

/**
 * What to do with a request that carries an Idempotency-Key.
 * @param stored  null for a key that nobody has used
 * @param fingerprint  null while the body is unread
 */
export function evaluateKey({
  stored,
  route,
  fingerprint,
}: {
  stored: StoredKey | null;
  route: string;
  fingerprint: string | null;
}): KeyDecision {
  if (!stored) return 'run';
  const isHeld = !stored.isAnswered && !stored.isLeaseOver;
  const isEmpty = !stored.isAnswered && stored.jobId === null;
  if (!isHeld && (stored.isExpired || isEmpty)) return 'run';
  if (stored.route !== route) return 'conflict';
  if (isHeld) return 'in_progress';
  if (fingerprint === null) return 'read_body';
  if (stored.fingerprint !== fingerprint) return 'conflict';
  return stored.isAnswered ? 'replay' : 'resume';
}

/** Whether a header's value can be a key: 1 to 255 printable ASCII characters. */
export function isIdempotencyKey(value: string): boolean {
  return /^[\x20-\x7e]{1,255}$/.test(value);
}

const STATUSES_OF_REFUSALS = [400, 401, 402, 403, 404, 413, 415, 429, 500, 503];

/**
 * Whether an answer is saved and sent again: that of a request whose processing began. After a refusal the same key
 * takes a corrected request, or the same one after a top-up.
 */
export function isKeptStatus(status: number): boolean {
  return !STATUSES_OF_REFUSALS.includes(status);
}
