import type { Sql } from '../../db/database.ts';
import { columnName, selectColumns, type ValuesOf } from '../../db/statements/columns.ts';
import { timeOfId } from '../../rules/ids.ts';
import type { AccountRef } from '../../rules/shard.ts';
import type { FailureReason } from '../../rules/webhooks/delivery-outcome.ts';
import { ATTEMPT_TABLE } from './attempt-table.ts';
import type { EmittedType } from './event-types.ts';

export type StoredEvent = { id: string; type: EmittedType; jobId: string | null; createdAt: Date };

/** @property testedId  the webhook that a test is of; null: the event is no test */
type EventWithBody = StoredEvent & { testedId: string | null; body: Buffer };

type Table = typeof ATTEMPT_TABLE;

/** One attempt to deliver an event: made, dropped, or still to come (`pending`). Durations in ms. */
export type LoggedAttempt = ValuesOf<Omit<Table['shown'], 'url'> & Table['result']> & {
  id: string;
  url: string | null;
  eventType: EmittedType;
  errorReason: FailureReason | null;
  status: 'succeeded' | 'failed' | 'pending' | 'dropped';
  createdAt: Date;
  completedAt: Date | null;
  nextAttemptAt: Date | null;
};

/** SQL of the columns of a recorded `LoggedAttempt`, but for the next attempt. @param from  the table's name */
export function selectAttempt(from: string): string {
  const shown = selectColumns(from, { ...ATTEMPT_TABLE.shown, ...ATTEMPT_TABLE.result });
  return `${from}.id, ${shown}, ${from}.status, ${from}.created_at as "createdAt", ${from}.completed_at as "completedAt"`;
}

/**
 * SQL of the same columns, and the time of the next attempt, for an attempt that is still to come.
 * @param delivery  the name of `deliveries` in the statement
 * @param webhook   the name of `webhooks`
 */
export function selectPending(delivery: string, webhook: string): string {
  const shown = Object.keys(ATTEMPT_TABLE.shown).map(
    (name) => `${name === 'url' ? webhook : delivery}.${columnName(name)} as "${name}"`,
  );
  const nothing = Object.keys(ATTEMPT_TABLE.result).map((name) => `null as "${name}"`);
  return `${delivery}.attempt_id as id, ${shown.join(', ')}, ${nothing.join(', ')}, 'pending' as status,
        ${delivery}.created_at as "createdAt", null as "completedAt",
        -- Once it is due, the attempt may be under way.
        case when ${delivery}.next_at > clock_timestamp() then ${delivery}.next_at end as "nextAttemptAt"`;
}

// Four attempts per webhook and round; redeliveries add rounds.
const MAX_ATTEMPTS_SHOWN = 500;

/** Newest first, without bodies. @param beforeId  null for the first page */
export async function listEvents(
  sql: Sql,
  { shard, accountId }: AccountRef,
  {
    type,
    jobId,
    limit,
    beforeId,
  }: { type: EmittedType | null; jobId: string | null; limit: number; beforeId: string | null },
): Promise<StoredEvent[]> {
  return await sql.rows<StoredEvent>({
    text: `
      select id, type, job_id as "jobId", created_at as "createdAt"
      from events
      where shard = $1 and account_id = $2
        and ($3::text is null or id < $3)
        and ($4::text is null or type = $4)
        and ($5::text is null or job_id = $5)
      order by id desc
      limit $6`,
    values: [shard, accountId, beforeId, type, jobId, limit],
  });
}

export async function findEvent(
  sql: Sql,
  { shard, accountId, id }: AccountRef & { id: string },
): Promise<EventWithBody | null> {
  const rows = await sql.rows<EventWithBody>({
    text: `
      select id, type, job_id as "jobId", created_at as "createdAt", webhook_id as "testedId", body
      from events
      where shard = $1 and id = $2 and account_id = $3`,
    values: [shard, id, accountId],
  });
  return rows[0] ?? null;
}

/** Every attempt to deliver the event, those that wait included, newest first. */
export async function listAttemptsOf(sql: Sql, { shard, id }: { shard: number; id: string }): Promise<LoggedAttempt[]> {
  const rows = await sql.rows<LoggedAttempt>({
    text: `
      select ${selectAttempt('attempts')},
        case when deliveries.attempt = attempts.attempt + 1 then deliveries.next_at end as "nextAttemptAt"
      from attempts
      left join deliveries on deliveries.shard = $1 and deliveries.event_id > '' and deliveries.event_id = $2 and deliveries.id = attempts.delivery_id
      where attempts.shard = $1 and attempts.event_id = $2
      union all
      select ${selectPending('deliveries', 'webhooks')}
      from deliveries
      left join webhooks on webhooks.shard = $1 and webhooks.id = deliveries.webhook_id
      where deliveries.shard = $1 and deliveries.event_id > '' and deliveries.event_id = $2
      order by 1 desc
      limit $3`,
    values: [shard, id, MAX_ATTEMPTS_SHOWN],
  });
  // A delivery row is as old as its first attempt; an entry is as old as its own id.
  return rows.map((row) => (row.status === 'pending' ? { ...row, createdAt: new Date(timeOfId(row.id)) } : row));
}
