import { randomBytes } from 'node:crypto';
import { hashKey } from '../http/guards.ts';

const RANDOM_BYTES = 32;
const PREFIX_CHARS = 8;

/** A fresh API key: `vb_` and 43 characters of base64url (256 random bits); what is stored is `prefix` and `hash` (SHA-256). */
export function makeKey(): { key: string; prefix: string; hash: Buffer } {
  const key = `vb_${randomBytes(RANDOM_BYTES).toString('base64url')}`;
  return { key, prefix: key.slice(0, PREFIX_CHARS), hash: hashKey(key) };
}
