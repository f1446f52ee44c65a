import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { Runtime } from '../../db/runtime.ts';

/** Encrypts webhook secrets for the database: a dump of the database is not enough to sign with them. */
export type SecretBox = {
  /** Ciphertext bound to the webhook, or to another place of use: with another one's name it does not open. */
  seal(webhookId: string, secret: string): Buffer;
  /**
   * @throws Error  when the bytes were changed, belong to another webhook, or were sealed with a key that is not listed
   */
  open(webhookId: string, sealed: Buffer): string;
  /** The same secret sealed by the first key, with that key's id. @throws Error  as `open` */
  reseal(webhookId: string, sealed: Buffer): Buffer;
  /** The first bytes of every secret that was sealed by the first key with its id. */
  currentHeader: Buffer;
};

// 1: nonce, tag, ciphertext. 2: the id of the key, then as 1.
const FORMAT_PLAIN = 1;
const FORMAT_WITH_ID = 2;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

type Key = { id: Buffer; object: KeyObject };

/** What runs on the secrets of webhooks. */
export type SecretsRuntime = Runtime & { secretBox: SecretBox };

/**
 * AES-256-GCM with the webhook's id as associated data. Sealed form: a header (format byte 1; or format byte 2 and the
 * 4 bytes of the key's id), 12 bytes of nonce, 16 of tag, ciphertext. As long as only one key is listed it seals
 * without an id, which older releases open too: they may be nodes of the same cluster.
 * @param keys  32 bytes each (SECRETS_KEY); the first seals, all open
 */
export function openSecretBox(...keys: Buffer[]): SecretBox {
  if (keys.length === 0 || keys.some((key) => key.length !== 32))
    throw new RangeError('a secret box needs 32-byte keys');
  const known = keys.map(readKey);
  const [first] = known as [Key];
  const currentHeader = Buffer.concat([Buffer.of(FORMAT_WITH_ID), first.id]);
  const header = known.length === 1 ? Buffer.of(FORMAT_PLAIN) : currentHeader;

  function open(webhookId: string, sealed: Buffer): string {
    const withId = sealed[0] === FORMAT_WITH_ID;
    if (!withId && sealed[0] !== FORMAT_PLAIN) throw new Error('not a sealed secret');
    const id = sealed.subarray(1, 1 + KEY_ID_BYTES);
    const candidates = withId ? known.filter((key) => key.id.equals(id)) : known;
    const body = sealed.subarray(withId ? 1 + KEY_ID_BYTES : 1);
    let cause: unknown;
    for (const key of candidates) {
      try {
        return decrypt(key, webhookId, body);
      } catch (error) {
        cause = error;
      }
    }
    throw new Error('no key of SECRETS_KEY opens this secret', { cause });
  }

  return {
    currentHeader,
    open,
    seal: (webhookId, secret) => Buffer.concat([header, encrypt(first, webhookId, secret)]),
    reseal: (webhookId, sealed) => Buffer.concat([currentHeader, encrypt(first, webhookId, open(webhookId, sealed))]),
  };
}

/** @param list  keys in base64, separated by commas, as the parent hands them to its processes */
export function openSecretBoxOf(list: string): SecretBox {
  return openSecretBox(...list.split(',').map((key) => Buffer.from(key, 'base64')));
}

function readKey(bytes: Buffer): Key {
  const id = createHash('sha256').update('verbatim secrets key ').update(bytes).digest().subarray(0, KEY_ID_BYTES);
  // A KeyObject saves 10 µs at each use over the key's bytes (measured).
  return { id, object: createSecretKey(bytes) };
}

function encrypt(key: Key, webhookId: string, secret: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.object, nonce).setAAD(Buffer.from(webhookId));
  const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

function decrypt(key: Key, webhookId: string, body: Buffer): string {
  const nonce = body.subarray(0, NONCE_BYTES);
  const tag = body.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key.object, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(webhookId))
    .setAuthTag(tag);
  return decipher.update(body.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
}

/** A fresh webhook secret: `whsec_` and the base64 of 32 random bytes. */
export function makeWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
