import type { KeyObject } from 'node:crypto';
import { createSecretKey } from 'node:crypto';
import { standardKey } from '#sdk/signature.ts';
import type { SecretBox } from './secrets.ts';

/** The keys behind one secret: of the X-Service-Signature, and of Standard Webhooks. */
export type SigningKeys = { own: KeyObject; standard: KeyObject };

/** No key of SECRETS_KEY opens the secret: SECRETS_KEY or the row was changed. */
export class UnreadableSecret extends Error {}

/** Opens sealed secrets and keeps their keys for the next attempt. */
export type Signers = {
  /** @throws UnreadableSecret */
  keysOf(webhookId: string, sealed: Buffer): SigningKeys;
};

const MAX_KEPT = 10_000;

/** Caches keys: opening a secret and making its keys costs as much as both signatures. A rotated secret has another cache key. */
export function openSigners(secretBox: Pick<SecretBox, 'open'>): Signers {
  const kept = new Map<string, SigningKeys>();

  function open(webhookId: string, sealed: Buffer): string {
    try {
      return secretBox.open(webhookId, sealed);
    } catch (cause) {
      throw new UnreadableSecret('the secret of a webhook does not open', { cause });
    }
  }

  return {
    keysOf(webhookId, sealed) {
      const name = `${webhookId} ${sealed.toString('base64')}`;
      const known = kept.get(name);
      if (known) return known;
      const secret = open(webhookId, sealed);
      const keys = { own: createSecretKey(secret, 'utf8'), standard: standardKey(secret) };
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(name, keys);
      return keys;
    },
  };
}
