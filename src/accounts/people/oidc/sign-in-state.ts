import { readSigned, signText } from '../credentials/signed-text.ts';

/** What a sign-in by the provider began with; the browser keeps it in a cookie until it returns. */
export type SignInState = {
  state: string;
  nonce: string;
  /** Of PKCE. */
  verifier: string;
  /** Where the provider sends the browser. */
  redirectUri: string;
  /** Of an invitation, or of the setup; null: a user who exists signs in. */
  token: { kind: 'invitation' | 'setup'; value: string } | null;
};

export const STATE_SECONDS = 600;
const PURPOSE = 'sign-in';

/**
 * The state as the value of a cookie, signed with HMAC-SHA256: nothing is stored here, however many sign-ins begin.
 * @param secretsKeysBase64  SECRETS_KEY, separated by commas: the first signs, all verify
 */
export function writeState(state: SignInState, secretsKeysBase64: string, nowMs: number): string {
  const endsAt = Math.ceil(nowMs / 1000) + STATE_SECONDS;
  const text = Buffer.from(JSON.stringify({ ...state, endsAt })).toString('base64url');
  return signText(text, PURPOSE, secretsKeysBase64);
}

/** Null for a value that was not made here, or is older than 10 minutes. */
export function readState(value: string | null, secretsKeysBase64: string, nowMs: number): SignInState | null {
  const text = readSigned(value ?? '', PURPOSE, secretsKeysBase64);
  if (text === null) return null;
  const { endsAt, ...state } = JSON.parse(Buffer.from(text, 'base64url').toString()) as SignInState & {
    endsAt: number;
  };
  return endsAt * 1000 > nowMs ? state : null;
}
