import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';

/** Encrypts webhook secrets for the database; a dump of it alone forges no signature. */
export type SecretBox = {
  /** Ciphertext bound to the webhook: it opens for no other. */
  seal(webhookId: string, secret: string): Buffer;
  /** @throws Error  when the bytes were changed, belong to another webhook, or were sealed with another key */
  open(webhookId: string, sealed: Buffer): string;
};

const FORMAT = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/**
 * AES-256-GCM with the webhook's id as associated data. Sealed form: format byte 1, 12 bytes of nonce, 16 of tag,
 * ciphertext.
 * @param keyBytes  32 bytes (SECRETS_KEY)
 */
export function openSecretBox(keyBytes: Buffer): SecretBox {
  if (keyBytes.length !== 32) throw new RangeError('a secret box needs a key of 32 bytes');
  // Node takes 10 µs more for each use of a key that it is handed as bytes.
  const key = createSecretKey(keyBytes);
  return {
    seal(webhookId, secret) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(webhookId));
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), ciphertext]);
    },
    open(webhookId, sealed) {
      if (sealed[0] !== FORMAT || sealed.length < HEADER_BYTES) throw new Error('not a sealed secret');
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(webhookId))
        .setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEADER_BYTES));
      return decipher.update(sealed.subarray(HEADER_BYTES), undefined, 'utf8') + decipher.final('utf8');
    },
  };
}

/** A fresh webhook secret: `whsec_` and the base64 of 32 random bytes. */
export function makeWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
