import type { AnyEvent } from '../wire.ts';
import { decodeBase64 } from './crypto/bytes.ts';

/** Default for the largest difference between a delivery's timestamp and now, in either direction. */
export const TOLERANCE_SECONDS = 300;
export const SECRET_PREFIX = 'whsec_';
const MIN_KEY_BYTES = 24;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** A time as the service writes it: ISO 8601 in UTC, with a fraction of a second or without. */
export const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

export type Body = Uint8Array | string;

/** Headers of a request: a Headers object, or a plain object with names in any case. */
export type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type VerificationCode =
  | 'bad_secret'
  | 'missing_header'
  | 'bad_timestamp'
  | 'stale_timestamp'
  | 'bad_signature'
  | 'bad_body';

/** Why a request is refused. `code` is stable; the message is for the receiver's log. */
export class WebhookVerificationError extends Error {
  readonly code: VerificationCode;
  constructor(code: VerificationCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WebhookVerificationError';
    this.code = code;
  }
}

export type Verification = {
  /** The webhook's secret, or several during a rotation: any of them may have signed. */
  secret: string | readonly string[];
  headers: HeaderSource;
  /** The body exactly as received, before any parsing. */
  body: Body;
  /** Milliseconds since the epoch; default: now. */
  now?: number;
  toleranceSeconds?: number;
  /** Default: X-Service- */
  headerPrefix?: string;
};

/** What is left to verify: whether one of the secrets made one of the signatures of timestamp + "." + body. */
export type Claim = { secrets: readonly string[]; timestamp: string; signatures: string[] };

/**
 * Checks everything but the signatures.
 * @throws WebhookVerificationError
 */
export function readClaim(delivery: Verification): Claim {
  const prefix = delivery.headerPrefix ?? 'X-Service-';
  const secrets = readSecrets(delivery.secret);
  requireRawBody(delivery.body);
  const timestamp = requireHeader(delivery.headers, `${prefix}Timestamp`);
  const signatures = [
    requireHeader(delivery.headers, `${prefix}Signature`),
    readHeader(delivery.headers, `${prefix}Signature-Previous`) ?? '',
  ];
  requireFresh(timestamp, delivery.now ?? Date.now(), delivery.toleranceSeconds ?? TOLERANCE_SECONDS);
  return { secrets, timestamp, signatures };
}

/**
 * The event of a delivery, once it is known whether it is signed.
 * @throws WebhookVerificationError
 */
export function readSignedEvent(body: Body, isSigned: boolean): AnyEvent {
  if (!isSigned) {
    throw new WebhookVerificationError('bad_signature', 'The signature does not belong to this body and secret.');
  }
  let event: unknown;
  try {
    event = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
  } catch (cause) {
    throw new WebhookVerificationError('bad_body', 'The body is signed, but is not JSON.', { cause });
  }
  const { id, type } = (event ?? {}) as { id?: unknown; type?: unknown };
  if (typeof id === 'string' && typeof type === 'string') return event as AnyEvent;
  throw new WebhookVerificationError('bad_body', 'The body is signed, but is not an event.');
}

/**
 * The secrets as a list, each of them checked.
 * @throws WebhookVerificationError  bad_secret
 */
export function readSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (secrets === undefined || secrets.length === 0) {
    throw new WebhookVerificationError('bad_secret', 'No secret was given.');
  }
  for (const one of secrets) decodeSecret(one);
  return secrets;
}

/**
 * The key of Standard Webhooks: the part of the secret after `whsec_`, decoded. A short key is refused because it could
 * be guessed.
 * @throws WebhookVerificationError  bad_secret
 */
export function decodeSecret(secret: string): Uint8Array {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : '';
  const key = BASE64.test(encoded) ? decodeBase64(encoded) : null;
  if (key === null || key.length < MIN_KEY_BYTES) {
    throw new WebhookVerificationError(
      'bad_secret',
      `The secret must be "${SECRET_PREFIX}" and base64 of at least ${MIN_KEY_BYTES} bytes, as it was shown at creation.`,
    );
  }
  return key;
}

/** The most common mistake of receivers: their framework has parsed the body, and the signed bytes are lost. */
function requireRawBody(body: unknown): void {
  if (typeof body === 'string' || ArrayBuffer.isView(body)) return;
  throw new WebhookVerificationError('bad_body', 'Pass the raw body, as text or bytes, before any parsing.');
}

function requireHeader(headers: HeaderSource, name: string): string {
  const value = readHeader(headers, name);
  if (value === null) throw new WebhookVerificationError('missing_header', `The header ${name} is missing.`);
  return value;
}

/** The value of a header; null when the header is absent, empty or repeated. */
export function readHeader(headers: HeaderSource, name: string): string | null {
  if (typeof headers['get'] === 'function') return (headers as { get(name: string): string | null }).get(name) || null;
  const wanted = name.toLowerCase();
  const entries = Object.entries(headers as Record<string, string | readonly string[] | undefined>);
  const values = entries.filter(([key]) => key.toLowerCase() === wanted).flatMap(([, value]) => value ?? []);
  // The service sends no header twice.
  return values.length === 1 && values[0] !== '' ? values[0]! : null;
}

function requireFresh(timestamp: string, nowMs: number, toleranceSeconds: number): void {
  const signedMs = ISO_TIME.test(timestamp) ? Date.parse(timestamp) : Number.NaN;
  if (Number.isNaN(signedMs)) {
    throw new WebhookVerificationError('bad_timestamp', 'The timestamp is not an ISO 8601 time in UTC.');
  }
  // Also refuses when `now` or the tolerance is NaN.
  if (!(Math.abs(nowMs - signedMs) <= toleranceSeconds * 1000)) {
    throw new WebhookVerificationError(
      'stale_timestamp',
      `The timestamp is more than ${toleranceSeconds} seconds away from now: an old request played again, or a wrong clock.`,
    );
  }
}
