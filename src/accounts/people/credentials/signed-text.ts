import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * A text with a signature by HMAC-SHA256, for a cookie: `text.signature`.
 * @param purpose  a signature is good for it only
 * @param secretsKeysBase64  SECRETS_KEY, separated by commas: the first signs, all verify
 */
export function signText(text: string, purpose: string, secretsKeysBase64: string): string {
  return `${text}.${signaturesOf(text, purpose, secretsKeysBase64)[0]}`;
}

/** The text without its signature; null where it was not signed here for this purpose. */
export function readSigned(value: string, purpose: string, secretsKeysBase64: string): string | null {
  const end = value.lastIndexOf('.');
  const text = value.slice(0, Math.max(end, 0));
  const given = Buffer.from(value.slice(end + 1));
  const isSigned = signaturesOf(text, purpose, secretsKeysBase64).some(
    (each) => each.length === given.length && timingSafeEqual(Buffer.from(each), given),
  );
  return isSigned ? text : null;
}

function signaturesOf(text: string, purpose: string, secretsKeysBase64: string): string[] {
  return secretsKeysBase64.split(',').map((key) => {
    // Another key than the one that encrypts.
    const own = createHmac('sha256', Buffer.from(key, 'base64')).update(`verbatim ${purpose}`).digest();
    return createHmac('sha256', own).update(text).digest('base64url');
  });
}
