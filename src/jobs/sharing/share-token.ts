import { randomBytes } from 'node:crypto';
import { hashKey } from '../../http/authentication.ts';
import { isId } from '../../rules/ids.ts';
import { shardOf } from '../../rules/shard.ts';

/** Where the row of a link is. `hash`: SHA-256 of its token. */
export type ShareName = { shard: number; accountId: string; hash: Buffer };

const RANDOM_BYTES = 32;
const TOKEN = /^([0-9a-z]{26})_[\w-]{43}$/;

/**
 * The token of a new link: `<account>_<random>`. The account says in which shard the row is; the random part, of 256
 * bits, is what cannot be guessed. Only the hash is stored.
 */
export function makeShareToken(accountId: string): { token: string; hash: Buffer } {
  const token = `${accountId.slice('acct_'.length)}_${randomBytes(RANDOM_BYTES).toString('base64url')}`;
  return { token, hash: hashKey(token) };
}

/** Null for a text that cannot be a token. */
export function readShareToken(token: string): ShareName | null {
  const accountId = `acct_${TOKEN.exec(token)?.[1] ?? ''}`;
  return isId('acct', accountId) ? { shard: shardOf(accountId), accountId, hash: hashKey(token) } : null;
}
