import type { Sql } from '../../db/database.ts';
import { IS_OF_ACCOUNT } from '../../db/statements/webhook-ids.ts';

/** A webhook's secrets and headers as they are stored. */
export type SealedRow = Sealed & { shard: number; id: string };

type Sealed = { secret: Buffer; previousSecret: Buffer | null; headers: Buffer | null };

/** Position of a pass over all webhooks: after this one, in the order of the primary key. */
export type SealedPlace = { shard: number; id: string };

const NOT_CURRENT = `(
  substring(secret from 1 for length($1::bytea)) <> $1
  or substring(previous_secret from 1 for length($1::bytea)) <> $1
  or substring(headers from 1 for length($1::bytea)) <> $1
)`;

/** The webhooks of an account, and one of its jobs' webhooks, with their secrets as they are stored. */
export async function listSealedOf(
  sql: Sql,
  { shard, accountId }: { shard: number; accountId: string },
  webhookId: string,
): Promise<Omit<SealedRow, 'headers'>[]> {
  return await sql.rows<Omit<SealedRow, 'headers'>>({
    text: `
      select shard, id, secret, previous_secret as "previousSecret"
      from webhooks
      where shard = $1 and account_id = $2 and (${IS_OF_ACCOUNT} or id = $3)
      order by id`,
    values: [shard, accountId, webhookId],
  });
}

/** The next webhooks, over all shards, with a secret or headers that do not begin with `header`. */
export async function listNotSealedBy(
  sql: Sql,
  header: Buffer,
  { after, limit }: { after: SealedPlace | null; limit: number },
): Promise<SealedRow[]> {
  return await sql.rows<SealedRow>({
    text: `
      select shard, id, secret, previous_secret as "previousSecret", headers
      from webhooks
      where (shard, id) > ($2, $3) and ${NOT_CURRENT}
      order by shard, id
      limit $4`,
    values: [header, after?.shard ?? -1, after?.id ?? '', limit],
  });
}

/** How many webhooks, over all shards, have a secret or headers that do not begin with `header`. */
export async function countNotSealedBy(sql: Sql, header: Buffer): Promise<number> {
  const [row] = await sql.rows<{ webhooks: number }>({
    text: `
      select count(*) as webhooks
      from webhooks
      where shard >= 0 and ${NOT_CURRENT}`,
    values: [header],
  });
  return row!.webhooks;
}

/** The last webhooks, over all shards. What of them is not in use any more is null. */
export async function listLastSealed(sql: Sql, limit: number): Promise<SealedRow[]> {
  return await sql.rows<SealedRow>({
    text: `
      -- every shard: the key is one for all
      select shard, id, secret, headers,
        case when previous_secret_ends_at > clock_timestamp() then previous_secret end as "previousSecret"
      from webhooks
      order by shard desc, id desc
      limit $1`,
    values: [limit],
  });
}

/** Replaces what is sealed; false when it has changed since it was read. */
export async function replaceSealed(
  sql: Sql,
  { shard, id, secret, previousSecret, headers }: SealedRow,
  fresh: Sealed,
): Promise<boolean> {
  const replaced = await sql.run({
    name: 'replace_sealed_secrets',
    text: `
      update webhooks
      set secret = $6, previous_secret = $7, headers = $8
      where shard = $1 and id = $2 and secret = $3 and previous_secret is not distinct from $4
        and headers is not distinct from $5`,
    values: [shard, id, secret, previousSecret, headers, fresh.secret, fresh.previousSecret, fresh.headers],
  });
  return replaced > 0;
}
