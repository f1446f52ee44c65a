import type { Sql } from '../../db/database.ts';
import type { Plan } from '../../rules/accounts/plan.ts';

type OldAttempts = {
  /** A partition of the log: `attempts_default`, or the name of a day of `listDays`. */
  partition: string;
  shard: number;
  plan: Plan;
  /** Entries created then or earlier are deleted. */
  endsAt: Date;
  limit: number;
};

/**
 * Deletes old attempts of the accounts that are on a plan now, at most `limit`; returns how many. In the partition
 * itself, so that nobody who uses the rest of the log notices.
 */
export async function deleteOldAttempts(
  sql: Sql,
  { partition, shard, plan, endsAt, limit }: OldAttempts,
): Promise<number> {
  return await sql.run({
    text: `delete from ${partition}
      -- By place: a log row is never updated, so it cannot have moved.
      where shard = $1 and ctid = any(array(
        select old.ctid
        from accounts a
        cross join lateral (
          select t.ctid
          from ${partition} t
          where t.shard = $1 and t.account_id = a.id and t.created_at <= $3
          limit $4
        ) old
        where a.shard = $1 and a.plan = $2
        limit $4
      ))`,
    values: [shard, plan, endsAt, limit],
  });
}
