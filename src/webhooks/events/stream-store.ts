import type { Sql } from '../../db/database.ts';
import type { AccountRef } from '../../rules/shard.ts';
import type { EmittedType } from './event-types.ts';

/**
 * A position in a list that is ordered by time and id: after the row with this time and id. Times as PostgreSQL's text.
 */
export type TimePlace = { at: string; id: string };

/** An event without its body. */
export type EventHead = TimePlace & { type: EmittedType; atMs: number; sizeBytes: number };

/** Events after a place, oldest first. @param types  null: all */
export async function listEventsAfter(
  sql: Sql,
  { shard, accountId }: AccountRef,
  { after, types, limit }: { after: TimePlace; types: readonly EmittedType[] | null; limit: number },
): Promise<EventHead[]> {
  return await sql.rows<EventHead>({
    name: 'list_events_after',
    isBrief: true,
    text: `
      select id, type, created_at::text as at, extract(epoch from created_at)::float8 * 1000 as "atMs",
        octet_length(body) as "sizeBytes"
      from events
      where shard = $1 and account_id = $2 and (created_at, id) > ($3::timestamptz, $4)
        and ($5::text[] is null or type = any($5))
      order by created_at, id
      limit $6`,
    values: [shard, accountId, after.at, after.id, types, limit],
  });
}

/** The bodies of those events that are still kept. */
export async function findEventBodies(
  sql: Sql,
  { shard, accountId }: AccountRef,
  ids: readonly string[],
): Promise<{ id: string; body: Buffer }[]> {
  return await sql.rows({
    name: 'find_event_bodies',
    isBrief: true,
    text: 'select id, body from events where shard = $1 and account_id = $2 and id = any($3::text[])',
    values: [shard, accountId, ids],
  });
}

/** When an event was created, in milliseconds; null when it is not kept, or belongs to another account. */
export async function findEventTime(sql: Sql, { shard, accountId }: AccountRef, id: string): Promise<number | null> {
  const [row] = await sql.rows<{ atMs: number }>({
    name: 'find_event_time',
    isBrief: true,
    text: `
      select extract(epoch from created_at)::float8 * 1000 as "atMs"
      from events
      where shard = $1 and id = $2 and account_id = $3`,
    values: [shard, id, accountId],
  });
  return row?.atMs ?? null;
}

/** The id of the account's oldest event; null when none is kept. */
export async function findOldestEvent(sql: Sql, { shard, accountId }: AccountRef): Promise<string | null> {
  const [row] = await sql.rows<{ id: string }>({
    name: 'find_oldest_event',
    isBrief: true,
    text: 'select id from events where shard = $1 and account_id = $2 order by created_at, id limit 1',
    values: [shard, accountId],
  });
  return row?.id ?? null;
}

/** For each of the accounts with events since a time, a text that changes with every further event. */
export async function summariseEvents(
  sql: Sql,
  accounts: readonly AccountRef[],
  sinceMs: number,
): Promise<{ accountId: string; state: string }[]> {
  return await sql.rows({
    name: 'summarise_events',
    isBrief: true,
    text: `
      select events.account_id as "accountId", concat(count(*), ' ', max(events.created_at)) as state
      from unnest($1::smallint[], $2::text[]) as asked (shard, account_id)
      join events on events.shard = asked.shard and events.account_id = asked.account_id
      where events.shard = any($1::smallint[]) and events.created_at >= to_timestamp($3::float8 / 1000)
      group by events.account_id`,
    values: [accounts.map(({ shard }) => shard), accounts.map(({ accountId }) => accountId), sinceMs],
  });
}
