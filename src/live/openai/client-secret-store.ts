import type { Sql } from '../../db/database.ts';

/** A secret for a browser. It is good for live sessions only, as long as the key that asked for it. */
export type ClientSecret = {
  shard: number;
  accountId: string;
  /** SHA-256 of the secret. */
  hash: Buffer;
  keyId: string | null;
  /** Settings of its sessions, as JSON. */
  settings: object;
  expiresAt: Date;
};

/** Sessions that one secret may begin. */
const MAX_SESSIONS = 10;

/** Inserts a secret, and deletes those of the account that have expired. */
export async function insertClientSecret(
  tx: Sql,
  { shard, accountId, hash, keyId, settings, expiresAt }: ClientSecret,
): Promise<void> {
  await tx.run({
    name: 'delete_client_secrets',
    text: `
      with clock as (
        select clock_timestamp() as moment
      )
      delete from client_secrets
      where shard = $1 and account_id = $2 and expires_at <= (select moment from clock)`,
    values: [shard, accountId],
  });
  await tx.run({
    name: 'insert_client_secret',
    text: `
      insert into client_secrets (shard, account_id, hash, key_id, settings, expires_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [shard, accountId, hash, keyId, JSON.stringify(settings), expiresAt],
  });
}

/** Counts a session of a secret. Null when it is unknown, has expired, or has begun as many sessions as it may. */
export async function useClientSecret<Settings>(
  sql: Sql,
  { shard, accountId, hash }: Pick<ClientSecret, 'shard' | 'accountId' | 'hash'>,
): Promise<{ keyId: string | null; settings: Settings } | null> {
  const rows = await sql.rows<{ keyId: string | null; settings: Settings }>({
    name: 'use_client_secret',
    text: `
      with clock as (
        select clock_timestamp() as moment
      )
      update client_secrets
      set sessions = sessions + 1
      where shard = $1 and account_id = $2 and hash = $3 and sessions < $4 and expires_at > (select moment from clock)
      returning key_id as "keyId", settings`,
    values: [shard, accountId, hash, MAX_SESSIONS],
  });
  return rows[0] ?? null;
}
