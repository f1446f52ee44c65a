import { createHmac, timingSafeEqual } from 'node:crypto';
import { isId } from '../../rules/ids.ts';

/** The job whose audio a link opens, and the key, or a user's membership, that the link was made with. */
type Target = { accountId: string; keyId: string; jobId: string };

/** Makes and checks the links that open a job's audio without a key. */
export type AudioLinks = {
  /** The last part of the link's path. @param expiresAtSeconds  since the epoch */
  make(target: Target, expiresAtSeconds: number): string;
  /** Null for a text that was not made here, and from its expiry on. */
  read(link: string, nowMs: number): Target | null;
};

/**
 * Links that are signed with HMAC-SHA256: `<job>.<account>.<key>.<expiry>.<signature>`.
 * @param secretsKeysBase64  SECRETS_KEY, separated by commas: the first signs, all verify
 */
export function openAudioLinks(secretsKeysBase64: string): AudioLinks {
  const keys = secretsKeysBase64.split(',').map((key) =>
    // Another key than the one that encrypts.
    createHmac('sha256', Buffer.from(key, 'base64')).update('verbatim audio link').digest(),
  );
  const sign = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  return {
    make({ accountId, keyId, jobId }, expiresAtSeconds) {
      const text = `${jobId}.${accountId}.${keyId}.${expiresAtSeconds}`;
      return `${text}.${sign(keys[0]!, text).toString('base64url')}`;
    },
    read(link, nowMs) {
      const [, text = '', jobId = '', accountId = '', keyId = '', expiry = '', signature = ''] =
        /^(([^.]+)\.([^.]+)\.([^.]+)\.(\d{1,12}))\.([\w-]{43})$/.exec(link) ?? [];
      // Compared as text: the last character holds bits that decoding would ignore.
      const given = Buffer.from(signature);
      const isGiven = (key: Buffer) => timingSafeEqual(Buffer.from(sign(key, text).toString('base64url')), given);
      if (signature.length !== 43 || !keys.some(isGiven)) return null;
      if (Number(expiry) * 1000 <= nowMs || !isId('job', jobId) || !isId('acct', accountId)) return null;
      return { accountId, keyId, jobId };
    },
  };
}
