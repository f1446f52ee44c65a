import { decodeSecret } from '#sdk/webhooks/verification.ts';
import { HmacSha256 } from './hmac.ts';
import type { SecretBox } from './secrets.ts';

/** Both signatures by one secret: of the X-Service-Signature (`own`), and of Standard Webhooks. */
export type Signer = { own: HmacSha256; standard: HmacSha256 };

/** No key of SECRETS_KEY opens the secret: SECRETS_KEY or the row was changed. */
export class UnreadableSecret extends Error {}

/** Opens sealed secrets and keeps their signers for the next attempt. */
export type Signers = {
  /** @throws UnreadableSecret */
  signerOf(webhookId: string, sealed: Buffer): Signer;
};

const MAX_KEPT = 10_000;

/** Caches signers: opening a secret costs more than both signatures. A rotated secret has another cache key. */
export function openSigners(secretBox: Pick<SecretBox, 'open'>): Signers {
  const kept = new Map<string, Signer>();

  function open(webhookId: string, sealed: Buffer): Signer {
    let secret: string;
    try {
      secret = secretBox.open(webhookId, sealed);
    } catch (cause) {
      throw new UnreadableSecret('the secret of a webhook does not open', { cause });
    }
    return { own: new HmacSha256(Buffer.from(secret)), standard: new HmacSha256(Buffer.from(decodeSecret(secret))) };
  }

  return {
    signerOf(webhookId, sealed) {
      const name = `${webhookId} ${sealed.toString('latin1')}`;
      const known = kept.get(name);
      if (known) return known;
      const signer = open(webhookId, sealed);
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(name, signer);
      return signer;
    },
  };
}
