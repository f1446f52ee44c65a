import { randomBytes } from 'node:crypto';
import { hashKey } from '../../http/authentication.ts';
import { composeKey } from '../../rules/accounts/api-key.ts';

const RANDOM_BYTES = 64;
const PREFIX_CHARS = 8;

/** A fresh API key, see rules/accounts/api-key.ts; what is stored is `prefix` and `hash` (SHA-256). */
export function makeKey(): { key: string; prefix: string; hash: Buffer } {
  let key: string | null = null;
  while (key === null) key = composeKey(randomBytes(RANDOM_BYTES));
  return { key, prefix: key.slice(0, PREFIX_CHARS), hash: hashKey(key) };
}
