import type pg from 'pg';
import type { LogDay } from '../../src/rules/webhooks/log-day.ts';

export type Past = {
  shard: number;
  accountId: string;
  webhookIds: string[];
  /** Spread over these days of the log, oldest first. */
  days: LogDay[];
  /** Deliveries that succeeded: their rows in the log. */
  finished: number;
  /** Deliveries that wait for an hour from now on. */
  delayed: number;
  /** Ended jobs, and as many events. */
  jobs: number;
};

// What one statement inserts: enough that planning and the round trip do not count.
const ROWS_AT_ONCE = 250_000;

/**
 * Fills the tables as the service would have over the days, in the order of time and with every index in place. The
 * events of finished deliveries are left out: neither the deliverer nor pages read any but their own.
 */
export async function fillPast(filler: pg.Client, past: Past): Promise<void> {
  const perDay = (total: number, day: number) =>
    Math.floor((total * (day + 1)) / past.days.length) - Math.floor((total * day) / past.days.length);
  for (const [at, day] of past.days.entries()) {
    await insertInParts(filler, LOGGED, past, day, perDay(past.finished, at));
    await insertInParts(filler, JOBS, past, day, perDay(past.jobs, at));
    await insertInParts(filler, EVENTS, past, day, perDay(past.jobs, at));
    await insertInParts(filler, DELAYED, past, day, perDay(past.delayed, at));
  }
}

async function insertInParts(filler: pg.Client, text: string, past: Past, day: LogDay, count: number): Promise<void> {
  for (let first = 0; first < count; first += ROWS_AT_ONCE) {
    const last = Math.min(count, first + ROWS_AT_ONCE) - 1;
    await filler.query({
      text,
      values: [past.shard, past.accountId, past.webhookIds, day.from, count, first, last, day.name.slice(-8)],
    });
  }
}

// Ids sort by time, as real ones do: the day, and the place in it. The rows lie evenly over the day.
const NUMBERED = `(
  select $8 || lpad(n::text, 18, '0') as number, ($3::text[])[1 + n % cardinality($3::text[])] as webhook_id,
    $4::timestamptz + n * (interval '1 day' / $5::int) as at
  from generate_series($6::int, $7::int) as n
) as numbered`;

const LOGGED = `
  insert into attempts (shard, id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt, status,
    response_status, duration_ms, request_headers, response_headers, created_at, completed_at)
  select $1, 'dlv_' || number, $2, webhook_id, 'evt_' || number, 'transcription.completed', 'dl_' || number,
    'https://receiver.example/hook', 1, 'succeeded', 204, 1, '{}', '{}', at, at
  from ${NUMBERED}`;

const JOBS = `
  insert into jobs (shard, id, account_id, state, plan, word_times, format, size_bytes, duration_ms, transcript,
    created_at, completed_at)
  select $1, 'job_' || number, $2, 'completed', 'pro', false, 'wav', 1, 1, 'text', at, at
  from (select *, $3::text[] from ${NUMBERED}) as numbered`;

const EVENTS = `
  insert into events (shard, id, account_id, type, job_id, body, created_at)
  select $1, 'evt_j' || number, $2, 'transcription.completed', 'job_' || number, '{}', at
  from ${NUMBERED}`;

const DELAYED = `
  insert into deliveries
    (shard, id, account_id, webhook_id, event_id, event_type, attempt_id, next_at, created_at)
  select $1, 'dl_z' || number, $2, webhook_id, 'evt_z' || number, 'transcription.completed', 'dlv_z' || number,
    now() + interval '1 hour', at
  from ${NUMBERED}`;
