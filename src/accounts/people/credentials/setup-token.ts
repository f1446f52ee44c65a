import { createHmac, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../../../http/api-error.ts';

/**
 * The token by which the first user is made, shown at the start of the service while it has no users. It follows from
 * the first of SECRETS_KEY: all nodes and all starts show the same, and nothing is stored.
 * @param secretsKeysBase64  SECRETS_KEY, separated by commas
 */
export function setupTokenOf(secretsKeysBase64: string): string {
  const [key] = secretsKeysBase64.split(',');
  return createHmac('sha256', Buffer.from(key!, 'base64')).update('verbatim setup').digest('base64url');
}

/** Compares in constant time. */
export function isSetupToken(given: string, secretsKeysBase64: string): boolean {
  const [expected, text] = [setupTokenOf(secretsKeysBase64), given].map((each) => Buffer.from(each));
  return text!.length === expected!.length && timingSafeEqual(text!, expected!);
}

/** @param param  the field of the request that has the token */
export function wrongSetupToken(param: string): ApiError {
  const message = 'This is not the token of the setup; the start of the service shows it.';
  return new ApiError('unauthenticated', message, { param });
}
