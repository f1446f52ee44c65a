import type { Sql } from '../../db/database.ts';
import type { AccountRef } from '../../rules/shard.ts';
import type { LoggedAttempt } from '../events/log-store.ts';
import type { TimePlace } from '../events/stream-store.ts';
import { ATTEMPT_COLUMNS } from './log-store.ts';

/** An entry of the log. `isResend`: the first attempt of a redelivery or recovery. */
export type RecordedAttempt = LoggedAttempt & TimePlace & { deliveryId: string; atMs: number; isResend: boolean };

// A delivery's id begins with the time of its event, unless the event is sent again.
const IS_RESEND = 'a.attempt = 1 and substr(a.delivery_id, 4, 10) <> substr(a.event_id, 5, 10)';

/**
 * Attempts recorded after a place, oldest first.
 * @param onlyResends  leaves out all but the first attempts of events that are sent again
 */
export async function listAttemptsAfter(
  sql: Sql,
  { shard, accountId }: AccountRef,
  { after, onlyResends, limit }: { after: TimePlace; onlyResends: boolean; limit: number },
): Promise<RecordedAttempt[]> {
  return await sql.rows<RecordedAttempt>({
    name: 'list_attempts_after',
    isBrief: true,
    text: `
      select ${ATTEMPT_COLUMNS}, a.delivery_id as "deliveryId", a.completed_at::text as at,
        extract(epoch from a.completed_at)::float8 * 1000 as "atMs", ${IS_RESEND} as "isResend"
      from attempts a
      left join deliveries d on d.shard = $1 and d.event_id > '' and d.event_id = a.event_id and d.id = a.delivery_id
      where a.shard = $1 and a.account_id = $2 and (a.completed_at, a.id) > ($3::timestamptz, $4)
        and (not $5 or ${IS_RESEND})
      order by a.completed_at, a.id
      limit $6`,
    values: [shard, accountId, after.at, after.id, onlyResends, limit],
  });
}

/** For each of the accounts with attempts recorded since a time, a text that changes with every further attempt. */
export async function summariseAttempts(
  sql: Sql,
  accounts: readonly AccountRef[],
  sinceMs: number,
): Promise<{ accountId: string; state: string }[]> {
  return await sql.rows({
    name: 'summarise_attempts',
    isBrief: true,
    text: `
      select attempts.account_id as "accountId", concat(count(*), ' ', max(attempts.completed_at)) as state
      from unnest($1::smallint[], $2::text[]) as asked (shard, account_id)
      join attempts on attempts.shard = asked.shard and attempts.account_id = asked.account_id
      where attempts.shard = any($1::smallint[]) and attempts.completed_at >= to_timestamp($3::float8 / 1000)
      group by attempts.account_id`,
    values: [accounts.map(({ shard }) => shard), accounts.map(({ accountId }) => accountId), sinceMs],
  });
}
