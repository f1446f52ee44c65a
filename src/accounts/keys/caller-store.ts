import type { Sql, Statement } from '../../db/database.ts';
import type { Role } from '../../rules/accounts/roles.ts';
import type { Caller, EndedKey } from '../account.ts';
import { type AccountName, USE_NOTED_SECONDS } from './key-store.ts';

/** What a request authenticates itself with. `hash`: SHA-256 of the key or of the session's token, 32 bytes. */
export type Credential = { kind: 'key' | 'session'; hash: Buffer };

/** `expiresInMs` is null for a key that never expires. */
type LookUp = { isUseNoted: boolean; expiresInMs: number | null };
type KeyFound = Caller['key'] &
  LookUp & { shard: number; accountId: string } & (
    | { sessionId: string; userId: string; role: Role; isOperator: boolean }
    | { sessionId: string | null; userId: null }
  );

const KEY_COLUMNS = `
  api_keys.id, api_keys.account_id as "accountId", api_keys.scopes, api_keys.expires_at as "expiresAt",
  coalesce(api_keys.last_used_at > clock_timestamp() - $2 * interval '1 second', false) as "isUseNoted"`;

/**
 * The account and key behind a credential, and how long it remains valid; null for an unknown or expired one. The shard
 * is not known before the look-up, so a distributed database keeps these tables on the coordinator, and the account is
 * read by a statement of its own.
 * @param owner  the account that the credential had when it was looked up before: both are read at the same time; else
 *               null
 */
export async function findCaller(
  sql: Sql,
  credential: Credential,
  owner: AccountName | null,
): Promise<(Caller & LookUp) | null> {
  const [[found], ownerFound] = await Promise.all([
    sql.rows<KeyFound>(credential.kind === 'key' ? findKey(credential.hash) : findKeyOfSession(credential.hash)),
    owner && findAccountOfKey(sql, owner),
  ]);
  if (!found) return null;
  const { shard, accountId, isUseNoted, expiresInMs, sessionId, id, scopes, expiresAt } = found;
  const key = { id, scopes, expiresAt };
  const user = found.userId === null ? null : { id: found.userId, role: found.role, isOperator: found.isOperator };
  const account = owner && owner.id === accountId ? ownerFound : await findAccountOfKey(sql, { shard, id: accountId });
  return account ? { account, key, sessionId, user, isUseNoted, expiresInMs } : null;
}

function findKey(hash: Buffer): Statement {
  return {
    name: 'find_key_by_hash',
    isBrief: true,
    text: `
      select shard, ${KEY_COLUMNS}, null as "sessionId", null as "userId",
        1000 * extract(epoch from expires_at - clock_timestamp())::float8 as "expiresInMs"
      from api_keys
      where hash = $1 and (expires_at is null or expires_at > clock_timestamp())`,
    values: [hash, USE_NOTED_SECONDS],
  };
}

function findKeyOfSession(hash: Buffer): Statement {
  return {
    name: 'find_key_of_session',
    isBrief: true,
    text: `
      select sessions.shard, ${KEY_COLUMNS}, sessions.id as "sessionId", users.id as "userId", api_keys.role,
        users.is_operator as "isOperator",
        1000 * extract(epoch from least(sessions.expires_at, api_keys.expires_at) - clock_timestamp())::float8
          as "expiresInMs"
      from sessions
      join api_keys on api_keys.shard = sessions.shard and api_keys.id = sessions.key_id
      left join users on users.id = api_keys.user_id
      where sessions.hash = $1 and least(sessions.expires_at, api_keys.expires_at) > clock_timestamp()`,
    values: [hash, USE_NOTED_SECONDS],
  };
}

/** An account as its callers have it; null when there is none any more. */
export async function findAccountOfKey(sql: Sql, { shard, id }: AccountName): Promise<Caller['account'] | null> {
  const [account] = await sql.rows<Caller['account']>({
    name: 'find_account_of_key',
    isBrief: true,
    text: `
      select id, shard, name, plan, unlimited, amount > 0 as "hadCredit", suspended_at is not null as "isSuspended"
      from accounts
      where shard = $1 and id = $2 and deleted_at is null`,
    values: [shard, id],
  });
  return account ?? null;
}

/** A key that has expired; null for all else. @param hash  SHA-256 of the key */
export async function findExpiredKey(sql: Sql, hash: Buffer): Promise<Omit<EndedKey, 'kind'> | null> {
  const [key] = await sql.rows<Omit<EndedKey, 'kind'>>({
    name: 'find_expired_key',
    isBrief: true,
    text: `
      select id as "keyId", account_id as "accountId", expires_at as "endedAt"
      from api_keys
      where hash = $1 and expires_at <= clock_timestamp()`,
    values: [hash],
  });
  return key ?? null;
}
