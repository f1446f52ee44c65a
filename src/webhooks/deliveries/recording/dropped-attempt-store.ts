import type { Sql } from '../../../db/database.ts';
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

async function finishDroppedAttempt(sql: Sql, attempt: FinishedAttempt): Promise<void> {
  await sql.run({
    name: 'finish-dropped-attempt',
    text: `update attempts
      set status = $4, response_status = $5, error_reason = $6, error_message = $7, duration_ms = $8, dns_ms = $9,
        connect_ms = $10, tls_ms = $11, first_byte_ms = $12, remote_address = $13, request_headers = $14,
        response_headers = $15, response_body = $16, url = $17, completed_at = $18
      where shard = $1 and webhook_id = $2 and id = $3 and status = 'dropped'`,
    values: [
      attempt.shard,
      attempt.webhookId,
      attempt.attemptId,
      attempt.succeeded ? 'succeeded' : 'failed',
      attempt.responseStatus,
      attempt.errorReason,
      attempt.errorMessage,
      attempt.durationMs,
      attempt.dnsMs,
      attempt.connectMs,
      attempt.tlsMs,
      attempt.firstByteMs,
      attempt.remoteAddress,
      attempt.requestHeaders,
      attempt.responseHeaders,
      attempt.responseBody,
      attempt.url,
      attempt.completedAt,
    ],
  });
}
