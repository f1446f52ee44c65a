/** What an email looks like, for a JSON schema: no spaces, and no control characters. */
export const EMAIL = {
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+@[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+$',
};

/**
 * How sure it is that an email is the user's. `service`: an operator invited this email, or the OpenID provider has
 * verified it; one user at most has it so. `account`: an owner of some account invited this email, or the user was made
 * by a release that did not tell. `none`: the user typed it.
 */
export type EmailProof = 'service' | 'account' | 'none';

const PATTERN = new RegExp(EMAIL.pattern);
// Zero width characters, controls of the direction of writing, and others that no font shows.
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
// Characters that belong to no alphabet, such as digits and accents.
const NEUTRAL = /[\p{Script=Common}\p{Script=Inherited}]/gu;
// Alphabets that one address may have in a part of it. Chinese, Japanese and Korean are written together with Latin.
const ALPHABETS = [
  'Latin',
  'Greek',
  'Cyrillic',
  'Armenian',
  'Georgian',
  'Hebrew',
  'Arabic',
  'Cherokee',
  'Coptic',
  'Devanagari',
  'Thai',
];
const ONE_ALPHABET = [
  ...ALPHABETS.map((name) => new RegExp(`^\\p{Script=${name}}*$`, 'u')),
  /^[\p{Script=Latin}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]*$/u,
  /^[\p{Script=Latin}\p{Script=Han}\p{Script=Bopomofo}]*$/u,
  /^[\p{Script=Latin}\p{Script=Han}\p{Script=Hangul}]*$/u,
  new RegExp(`^[^${ALPHABETS.map((name) => `\\p{Script=${name}}`).join('')}]*$`, 'u'),
];

/** As emails are compared and stored: without differences of case, width or form that a reader does not see. */
export function normalEmail(email: string): string {
  return email.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');
}

/** The forms in which an email may be stored: as now, and as an earlier release stored it. */
export function storedEmails(email: string): string[] {
  return [...new Set([normalEmail(email), email.normalize('NFC').toLowerCase()])];
}

/** Why an email is refused, for whoever gave it; null where it is not. */
export function emailFault(email: string): string | null {
  if (INVISIBLE.test(email)) return 'The email has characters that cannot be seen; type it again.';
  const normal = normalEmail(email);
  if (!PATTERN.test(normal) || normal.length > EMAIL.maxLength) return 'This is no email address.';
  if (normal.split(/[@.]/).every(isOneAlphabet)) return null;
  return 'The email mixes letters of several alphabets; type it in one.';
}

function isOneAlphabet(part: string): boolean {
  const letters = part.replaceAll(NEUTRAL, '');
  return ONE_ALPHABET.some((alphabet) => alphabet.test(letters));
}

/** The email that somebody else's service gives; null where it gives none, or one that would be taken for another. */
export function readEmail(given: unknown): string | null {
  if (typeof given !== 'string') return null;
  const email = given.trim();
  // Two mailboxes may differ in what the normal form leaves out.
  if (email.normalize('NFKC') !== email.normalize('NFC') || emailFault(email) !== null) return null;
  return normalEmail(email);
}
