import type { Sql } from '../db/database.ts';

type AccountKey = { shard: number; id: string };

/** Deletes at most `limit` webhooks of an account and of its jobs. Returns how many. What waits for them is dropped. */
export async function deleteWebhooksOfAccount(sql: Sql, { shard, id }: AccountKey, limit: number): Promise<number> {
  return await sql.run({
    text: `
      delete from webhooks
      where shard = $1 and id = any(array(
        select id
        from webhooks
        where shard = $1 and account_id = $2
        limit $3
      ))`,
    values: [shard, id, limit],
  });
}

/** Deletes at most `limit` events of an account, and what waits of their deliveries. Returns how many events. */
export async function deleteEventsOfAccount(sql: Sql, { shard, id }: AccountKey, limit: number): Promise<number> {
  const [row] = await sql.rows<{ events: number }>({
    text: `
      with deleted as (
        delete from events
        where shard = $1 and id = any(array(
          select id
          from events
          where shard = $1 and account_id = $2
          order by id desc
          limit $3
        ))
        returning id
      ), deleted_deliveries as (
        delete from deliveries
        where shard = $1 and event_id > '' and event_id = any(array(select id from deleted))
      )
      select count(*) as events
      from deleted`,
    values: [shard, id, limit],
  });
  return row!.events;
}

/** Deletes at most `limit` entries of the delivery log of an account. Returns how many. */
export async function deleteAttemptsOfAccount(sql: Sql, { shard, id }: AccountKey, limit: number): Promise<number> {
  return await sql.run({
    text: `
      with old as materialized (
        select webhook_id, id, created_at
        from attempts
        where shard = $1 and account_id = $2
        order by completed_at, id
        limit $3
      )
      delete from attempts
      using old
      where attempts.shard = $1 and attempts.webhook_id = old.webhook_id and attempts.id = old.id
        and attempts.created_at = old.created_at`,
    values: [shard, id, limit],
  });
}
