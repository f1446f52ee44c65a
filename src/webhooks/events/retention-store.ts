import type { Database, Sql } from '../../db/database.ts';
import type { Plan } from '../../rules/accounts/plan.ts';

type OldEvents = {
  shard: number;
  /** Days that an event is kept, by the account's plan as it is now. */
  keepDays: Record<Plan, number>;
  limit: number;
  now?: Date | null;
};

/**
 * Deletes events past their time, at most `limit`; returns how many. An event stays while a delivery of it waits, or
 * while the log shows a younger attempt (a retry or redelivery), whose request is the event's body.
 */
export async function deleteOldEvents(db: Database, request: OldEvents): Promise<number> {
  return await db.transaction(async (tx) => {
    const ids = await lockOldEvents(tx, request);
    // Checked again in a statement of its own: a redelivery may have been inserted before the lock was taken.
    return ids.length === 0 ? 0 : await deleteUnneeded(tx, request, ids);
  });
}

// Accounts of a shard, each with the time before which its events may be deleted. $2 is now, $3 and $4 are days.
const PAST = `
  past as (
    select a.id as account_id,
      coalesce($2::timestamptz, clock_timestamp())
        - case a.plan when 'lite' then $3 else $4 end::float8 * interval '24 hours' as ends_at
    from accounts a
    where a.shard = $1
  )`;

const IS_NEEDED = `(
  exists (select from deliveries d where d.shard = $1 and d.event_id > '' and d.event_id = e.id)
  or exists (select from attempts a where a.shard = $1 and a.event_id = e.id and a.created_at > p.ends_at)
)`;

async function lockOldEvents(tx: Sql, { shard, keepDays, limit, now = null }: OldEvents): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>({
    name: 'lock-old-events',
    text: `with ${PAST}
      select e.id
      from past p
      cross join lateral (
        select e.id
        from events e
        where e.shard = $1 and e.account_id = p.account_id and e.created_at <= p.ends_at and not ${IS_NEEDED}
        order by e.created_at
        limit $5
      ) old
      join events e on e.shard = $1 and e.id = old.id
      limit $5
      for update of e skip locked`,
    values: [shard, now, keepDays.lite, keepDays.pro, limit],
  });
  return rows.map((row) => row.id);
}

async function deleteUnneeded(tx: Sql, { shard, keepDays, now = null }: OldEvents, ids: string[]): Promise<number> {
  const [row] = await tx.rows<{ events: number }>({
    name: 'delete-unneeded-events',
    text: `with ${PAST},
      gone as (
        delete from events e
        using past p
        where e.shard = $1 and e.id = any($5::text[]) and p.account_id = e.account_id and not ${IS_NEEDED}
        returning e.id
      )
      select count(*) as events
      from gone`,
    values: [shard, now, keepDays.lite, keepDays.pro, ids],
  });
  return row!.events;
}
