/** What an email looks like, for a JSON schema: no spaces, and no control characters. */
export const EMAIL = {
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+@[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+$',
};

const PATTERN = new RegExp(EMAIL.pattern);

/** As emails are compared and stored: in lower case, and with one form of a letter with an accent. */
export function normalEmail(email: string): string {
  return email.normalize('NFC').toLowerCase();
}

/** The email that somebody else's service gives; null where it gives none. */
export function readEmail(given: unknown): string | null {
  if (typeof given !== 'string') return null;
  const email = normalEmail(given.trim());
  return email.length <= EMAIL.maxLength && PATTERN.test(email) ? email : null;
}
