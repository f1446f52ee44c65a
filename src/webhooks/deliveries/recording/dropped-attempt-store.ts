import type { Sql } from '../../../db/database.ts';
import { columnName } from '../../../db/statements/columns.ts';
import { defineStatement } from '../../../db/statements/named-parameters.ts';
import { ATTEMPT_TABLE } from '../../events/attempt-table.ts';
import type { FinishedAttempt } from './finished-attempt.ts';

/**
 * Records the results of attempts whose deliveries were dropped while they were in flight: their log entries change
 * from `dropped` to the result. No retry follows, and the streak of failures does not change.
 * Other attempts are ignored.
 */
export async function finishDroppedAttempts(sql: Sql, attempts: FinishedAttempt[]): Promise<void> {
  if (attempts.length === 0) return;
  const dropped = await sql.rows<{ id: string }>({
    name: 'find-dropped-attempts',
    text: `select id
      from attempts
      where shard = any($1::smallint[]) and event_id = any($2::text[]) and id = any($3::text[]) and status = 'dropped'`,
    values: [
      [...new Set(attempts.map(({ shard }) => shard))],
      [...new Set(attempts.map(({ eventId }) => eventId))],
      attempts.map(({ attemptId }) => attemptId),
    ],
  });
  const ids = new Set(dropped.map(({ id }) => id));
  // These are few, so each has a statement of its own.
  for (const attempt of attempts) if (ids.has(attempt.attemptId)) await finishDroppedAttempt(sql, attempt);
}

const RESULT = { ...ATTEMPT_TABLE.result, ...ATTEMPT_TABLE.content };

async function finishDroppedAttempt(sql: Sql, attempt: FinishedAttempt): Promise<void> {
  const status = attempt.succeeded ? 'succeeded' : 'failed';
  await sql.run(FINISH_DROPPED({ ...attempt, status }));
}

const FINISH_DROPPED = defineStatement(
  { name: 'finish-dropped-attempt' },
  `update attempts
  set status = $status, url = $url, completed_at = $completedAt,
    ${Object.keys(RESULT)
      .map((name) => `${columnName(name)} = $${name}`)
      .join(', ')}
  where shard = $shard and webhook_id = $webhookId and id = $attemptId and status = 'dropped'`,
);
