import type { Sql } from '../../../db/database.ts';
import { joinedTexts, textsOf } from '../../../db/statements/joined-texts.ts';
import { defineStatement } from '../../../db/statements/named-parameters.ts';
import { plainArray } from '../../../db/statements/plain-array.ts';
import { timeOfId } from '../../../rules/ids.ts';
import type { FinishedAttempt } from './finished-attempt.ts';

/** An entry of the delivery log. */
export type LogEntry = Omit<FinishedAttempt, 'durationMs' | 'jobId' | 'traceparent'> & {
  status: 'succeeded' | 'failed' | 'dropped';
  /** Null when nothing was sent. */
  durationMs: number | null;
};

/** Start of the statement that inserts entries of the delivery log. */
export const INSERT_ATTEMPTS = `insert into attempts (shard, id, account_id, webhook_id, event_id, event_type, delivery_id, url,
  attempt, status, response_status, error_reason, error_message, duration_ms, dns_ms, connect_ms, tls_ms, first_byte_ms,
  remote_address, request_headers, response_headers, response_body, created_at, completed_at)`;

/** The attempts of `attemptColumns` as rows, with the names that ATTEMPT_COLUMNS gives. */
export const ATTEMPT_ARRAYS = `$shards::smallint[], $deliveryIds::text[], $webhookIds::text[], $eventIds::text[],
  $attemptIds::text[], ${textsOf('$urls')}, $attempts::smallint[], $responseStatuses::smallint[], $durations::real[],
  $dns::real[], $connect::real[], $tls::real[], $firstBytes::real[], ${textsOf('$addresses')},
  ${textsOf('$requestHeaders')}, ${textsOf('$responseHeaders')}, $responseBodies::bytea[], $completedAt::float8[],
  $createdAt::float8[], $accountIds::text[], $eventTypes::text[]`;
export const ATTEMPT_COLUMNS = `shard, delivery_id, webhook_id, event_id, attempt_id, url, attempt, response_status, duration_ms,
  dns_ms, connect_ms, tls_ms, first_byte_ms, remote_address, request_headers, response_headers, response_body,
  completed_at_ms, created_at_ms, account_id, event_type`;

/** The values of ATTEMPT_ARRAYS. */
export function attemptColumns(attempts: Omit<LogEntry, 'status'>[]) {
  const column = <Name extends keyof Omit<LogEntry, 'status'>>(name: Name) => attempts.map((attempt) => attempt[name]);
  return {
    shards: plainArray(column('shard')),
    deliveryIds: plainArray(column('deliveryId')),
    webhookIds: plainArray(column('webhookId')),
    eventIds: plainArray(column('eventId')),
    attemptIds: plainArray(column('attemptId')),
    urls: joinedTexts(column('url')),
    attempts: plainArray(column('attempt')),
    responseStatuses: plainArray(column('responseStatus')),
    durations: plainArray(column('durationMs')),
    dns: plainArray(column('dnsMs')),
    connect: plainArray(column('connectMs')),
    tls: plainArray(column('tlsMs')),
    firstBytes: plainArray(column('firstByteMs')),
    addresses: joinedTexts(column('remoteAddress')),
    requestHeaders: joinedTexts(column('requestHeaders')),
    responseHeaders: joinedTexts(column('responseHeaders')),
    responseBodies: column('responseBody'),
    completedAt: plainArray(attempts.map((attempt) => attempt.completedAt.getTime())),
    createdAt: plainArray(attempts.map((attempt) => timeOfId(attempt.attemptId))),
    accountIds: plainArray(column('accountId')),
    eventTypes: plainArray(column('eventType')),
  };
}

/** Inserts entries of one shard into the delivery log. */
export async function insertLogEntries(tx: Sql, entries: LogEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await tx.run(
    INSERT_ENTRIES({
      ...attemptColumns(entries),
      statuses: plainArray(entries.map(({ status }) => status)),
      reasons: plainArray(entries.map(({ errorReason }) => errorReason)),
      messages: entries.map(({ errorMessage }) => errorMessage),
    }),
  );
}

const INSERT_ENTRIES = defineStatement(
  { name: 'insert-log-entries' },
  `${INSERT_ATTEMPTS}
  select shard, attempt_id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt, status, response_status,
    error_reason, error_message, duration_ms, dns_ms, connect_ms, tls_ms, first_byte_ms, remote_address, request_headers,
    response_headers, response_body, to_timestamp(created_at_ms / 1000), to_timestamp(completed_at_ms / 1000)
  from unnest(${ATTEMPT_ARRAYS}, $statuses::text[], $reasons::text[], $messages::text[])
    as b (${ATTEMPT_COLUMNS}, status, error_reason, error_message)`,
);
