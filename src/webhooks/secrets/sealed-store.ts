import type { Sql } from '../../db/database.ts';

/** A webhook's secrets as they are stored. */
export type SealedRow = { shard: number; id: string; secret: Buffer; previousSecret: Buffer | null };

/** Position of a pass over all webhooks: after this one, in the order of the primary key. */
export type SealedPlace = { shard: number; id: string };

const NOT_CURRENT = `(
  substring(secret from 1 for length($1::bytea)) <> $1
  or substring(previous_secret from 1 for length($1::bytea)) <> $1
)`;

/** The next webhooks, over all shards, with a secret that does not begin with `header`. */
export async function listNotSealedBy(
  sql: Sql,
  header: Buffer,
  { after, limit }: { after: SealedPlace | null; limit: number },
): Promise<SealedRow[]> {
  return await sql.rows<SealedRow>({
    text: `
      select shard, id, secret, previous_secret as "previousSecret"
      from webhooks
      where (shard, id) > ($2, $3) and ${NOT_CURRENT}
      order by shard, id
      limit $4`,
    values: [header, after?.shard ?? -1, after?.id ?? '', limit],
  });
}

/** How many webhooks, over all shards, have a secret that does not begin with `header`. */
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

/** Replaces the sealed secrets; false when they have changed since they were read. */
export async function replaceSealed(
  sql: Sql,
  { shard, id, secret, previousSecret }: SealedRow,
  fresh: Pick<SealedRow, 'secret' | 'previousSecret'>,
): Promise<boolean> {
  const replaced = await sql.run({
    name: 'replace_sealed_secrets',
    text: `
      update webhooks
      set secret = $5, previous_secret = $6
      where shard = $1 and id = $2 and secret = $3 and previous_secret is not distinct from $4`,
    values: [shard, id, secret, previousSecret, fresh.secret, fresh.previousSecret],
  });
  return replaced > 0;
}
