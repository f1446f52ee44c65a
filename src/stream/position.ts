import type { Sql } from '../db/database.ts';
import { ApiError } from '../http/api-error.ts';
import { readTime } from '../http/time-parameter.ts';
import { isId, timeOfId } from '../rules/ids.ts';
import type { AccountRef } from '../rules/shard.ts';
import { findEventTime, findOldestEvent } from '../webhooks/events/stream-store.ts';

/** What the client asked for is no longer kept from there on. */
export type Gap = { from: string; oldest_id: string | null };

/**
 * Where a stream starts.
 * @property isNow  with changes that are committed from now on
 */
export type Position = { fromMs: number; isNow: boolean; gap: Gap | null; oldestId: string | null };

const MS_PER_DAY = 86_400_000;

/**
 * Reads where to start: `now`, the id of the last event that the client has, or a time.
 * @param name      the field or header that the text comes from
 * @param keepDays  for how long events are kept
 * @throws ApiError  400
 */
export async function readPosition(
  sql: Sql,
  owner: AccountRef,
  { name, text, nowMs, keepDays }: { name: string; text: string; nowMs: number; keepDays: number },
): Promise<Position> {
  const oldestId = await findOldestEvent(sql, owner);
  if (text === 'now') return { fromMs: nowMs, isNow: true, gap: null, oldestId };
  const gap = { from: text, oldest_id: oldestId };
  if (isId('evt', text)) {
    const foundMs = await findEventTime(sql, owner, text);
    if (foundMs !== null) return { fromMs: foundMs, isNow: false, gap: null, oldestId };
    const madeMs = timeOfId(text);
    // Of a clock that was ahead, or made up: its time may be later than any that the database takes.
    const isNow = madeMs > nowMs;
    return { fromMs: isNow ? nowMs : madeMs, isNow, gap, oldestId };
  }
  const fromMs = readTimeOr400(name, text).getTime();
  if (fromMs > nowMs) return { fromMs: nowMs, isNow: true, gap: null, oldestId };
  return { fromMs, isNow: false, gap: fromMs < nowMs - keepDays * MS_PER_DAY ? gap : null, oldestId };
}

function readTimeOr400(name: string, text: string): Date {
  try {
    return readTime(name, text)!;
  } catch (cause) {
    const message = `${name} must be now, the id of an event (evt_…), or a time such as 2026-11-21T09:30:00.000Z.`;
    throw new ApiError('invalid_request', message, { param: name, cause });
  }
}
