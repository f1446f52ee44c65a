import type { KeyObject } from 'node:crypto';
import { createSecretKey } from 'node:crypto';
import { standardKey } from '#sdk/signature.ts';
import type { SecretBox } from '../webhooks/secrets.ts';

/** The keys behind one secret: of the X-Service-Signature, and of Standard Webhooks. */
export type SigningKeys = { own: KeyObject; standard: KeyObject };

/** Opens sealed secrets and keeps their keys for the next attempt. */
export type Signers = {
  /** @throws Error  when the secret does not open */
  keysOf(webhookId: string, sealed: Buffer): SigningKeys;
};

const MAX_KEPT = 10_000;

/** Opening a secret and making its keys costs as much as both signatures; a rotated secret is other bytes, and other keys. */
export function openSigners(secretBox: Pick<SecretBox, 'open'>): Signers {
  const kept = new Map<string, SigningKeys>();
  return {
    keysOf(webhookId, sealed) {
      const name = `${webhookId} ${sealed.toString('base64')}`;
      const known = kept.get(name);
      if (known) return known;
      const secret = secretBox.open(webhookId, sealed);
      const keys = { own: createSecretKey(secret, 'utf8'), standard: standardKey(secret) };
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(name, keys);
      return keys;
    },
  };
}
