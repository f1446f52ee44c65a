import { concatenate, toBytes } from './bytes.ts';

const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };

/**
 * HMAC-SHA256 over the parts, made by WebCrypto, which every runtime has; browsers only on pages that came over HTTPS.
 */
export async function hmacSha256(key: string | Uint8Array, ...parts: (string | Uint8Array)[]): Promise<Uint8Array> {
  const imported = await importKey(key, 'sign');
  return new Uint8Array(await subtle().sign('HMAC', imported, concatenate(parts.map(toBytes))));
}

/** Whether the HMAC belongs to the parts. Takes the same time for every HMAC of the same length. */
export async function isHmacSha256(
  hmac: Uint8Array<ArrayBuffer>,
  key: string | Uint8Array,
  ...parts: (string | Uint8Array)[]
): Promise<boolean> {
  const imported = await importKey(key, 'verify');
  return await subtle().verify('HMAC', imported, hmac, concatenate(parts.map(toBytes)));
}

function importKey(key: string | Uint8Array, use: 'sign' | 'verify') {
  return subtle().importKey('raw', toBytes(key), ALGORITHM, false, [use]);
}

function subtle() {
  if (!crypto.subtle) throw new TypeError('WebCrypto is missing: browsers have it on pages that came over HTTPS only.');
  return crypto.subtle;
}
