import type { Sql } from '../../db/database.ts';
import { IS_OF_ACCOUNT } from '../../db/statements/webhook-ids.ts';
import { COLUMNS, type WebhookRow } from './store.ts';

/** Webhooks of all accounts, or of one, newest first. @param active  null: all @param beforeId  null: the first page */
export async function listAllWebhooks(
  sql: Sql,
  {
    active,
    accountId,
    limit,
    beforeId,
  }: { active: boolean | null; accountId: string | null; limit: number; beforeId: string | null },
): Promise<(WebhookRow & { accountId: string })[]> {
  return await sql.rows({
    text: `
      -- every shard: a list for the operator
      select ${COLUMNS}, account_id as "accountId"
      from webhooks
      where ${IS_OF_ACCOUNT} and ($1::boolean is null or active = $1) and ($2::text is null or id < $2)
        and ($4::text is null or account_id = $4)
      order by id desc
      limit $3`,
    values: [active, beforeId, limit, accountId],
  });
}

/** How many webhooks are active, and how many are disabled. */
export async function countAllWebhooks(sql: Sql): Promise<{ active: number; disabled: number }> {
  const [row] = await sql.rows<{ active: number; disabled: number }>({
    text: `
      -- every shard: a figure for the operator
      select count(*) filter (where active) as active, count(*) filter (where not active) as disabled
      from webhooks
      where ${IS_OF_ACCOUNT}`,
  });
  return row!;
}
