import type { Database, Sql } from '../db/sql.ts';
import { LANE_COUNT } from '../rules/lane.ts';

/** A due delivery, leased to whoever claimed it, with everything that its attempt needs. */
export type ClaimedDelivery = {
  lane: number;
  id: string;
  /** Fences every later statement about this claim. */
  lease: number;
  accountId: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  attempt: number;
  attemptId: string;
  url: string;
  secret: Buffer;
  previousSecret: Buffer | null;
  previousSecretEndsAt: Date | null;
  /** The webhook has been failing, or has never succeeded. */
  isSuspect: boolean;
  body: Buffer;
};

export type ClaimRequest = {
  lane: number;
  limit: number;
  leaseMs: number;
  /** Claims only first attempts to webhooks that have succeeded, and not failed since. */
  healthyOnly?: boolean;
  now?: Date | null;
};

/** How many attempts of one webhook may be under way at once, over all nodes. */
export const MAX_IN_FLIGHT_PER_WEBHOOK = 16;

// Up to this many times the limit, due deliveries are taken in order of time. Past it one webhook's backlog may hide the
// others, and each webhook with open deliveries is asked in turn.
const WINDOW_FACTOR = 2;

/** A lane, and how long until something in it is due; 0 when it is due already. */
export type LaneDue = { lane: number; inMs: number };

/** Lanes in which something is due, or will be within `aheadMs`. One index probe per lane. */
export async function lanesWithDueDeliveries(
  sql: Sql,
  { aheadMs = 0, now = null }: { aheadMs?: number; now?: Date | null } = {},
): Promise<LaneDue[]> {
  return await sql.rows<LaneDue>({
    name: 'lanes-with-due-deliveries',
    text: `select l.lane, greatest(0, extract(epoch from d.next_at - m.now) * 1000)::float8 as "inMs"
      from (select coalesce($2::timestamptz, clock_timestamp()) as now) m
      cross join generate_series(0, $1::int - 1) as l (lane)
      cross join lateral (
        select d.next_at
        from deliveries d
        where d.lane = l.lane and d.state in ('waiting', 'sending')
        order by d.next_at
        limit 1
      ) d
      where d.next_at <= m.now + $3 * interval '1 millisecond'`,
    values: [LANE_COUNT, now, aheadMs],
  });
}

/**
 * Leases due deliveries of active webhooks: at most 16 in flight per webhook, every webhook's first in turn before
 * anybody's second, webhooks that work before those that fail or never succeeded, first attempts before late retries. The attempt number
 * stays: a delivery whose lease ended is claimed again with a new attempt id only.
 */
export async function claimDueDeliveries(db: Database, request: ClaimRequest): Promise<ClaimedDelivery[]> {
  return await db.transaction(async (tx) => {
    // Claims of a lane come one after another, so that each sees what the one before has put in flight.
    await tx.rows({ name: 'lock-claims', text: `select pg_advisory_xact_lock(1, $1)`, values: [request.lane] });
    return await claim(tx, request);
  });
}

async function claim(tx: Sql, { lane, limit, leaseMs, healthyOnly = false, now = null }: ClaimRequest) {
  return await tx.rows<ClaimedDelivery>({
    name: 'claim-due-deliveries',
    text: CLAIM,
    values: [lane, limit, now, leaseMs, MAX_IN_FLIGHT_PER_WEBHOOK, healthyOnly, limit * WINDOW_FACTOR],
  });
}

const CLAIM = `
  with recursive
  moment as materialized (
    select coalesce($3::timestamptz, clock_timestamp()) as now
  ),
  early as materialized (
    select d.id, d.webhook_id, d.attempt, d.next_at
    from deliveries d
    where d.lane = $1 and d.state in ('waiting', 'sending') and d.next_at <= (select now from moment)
    order by d.next_at
    limit $7
  ),
  backlog as materialized (
    select count(*) >= $7 as is_long
    from early
  ),
  open_webhooks (id) as (
    select (
      select min(d.webhook_id)
      from deliveries d
      where d.lane = $1 and d.state in ('waiting', 'sending') and (select is_long from backlog)
    )
    union all
    select (
      select min(d.webhook_id)
      from deliveries d
      where d.lane = $1 and d.state in ('waiting', 'sending') and d.webhook_id > o.id
    )
    from open_webhooks o
    where o.id is not null
  ),
  due as materialized (
    select e.*
    from early e
    where not (select is_long from backlog)
    union all
    select d.*
    from open_webhooks o
    cross join lateral (
      select d.id, d.webhook_id, d.attempt, d.next_at
      from deliveries d
      -- As one range of (webhook_id, next_at): no other index offers this order, so that a planner without statistics
      -- cannot read the whole lane for each webhook.
      where d.lane = $1 and d.state in ('waiting', 'sending')
        and (d.webhook_id, d.next_at) >= (o.id, timestamptz '-infinity')
        and (d.webhook_id, d.next_at) <= (o.id, (select now from moment))
      order by d.webhook_id, d.next_at
      limit $5
    ) d
  ),
  ranked as materialized (
    select d.*, w.consecutive_failures > 0 or not w.proven as is_suspect,
      row_number() over (partition by d.webhook_id order by d.attempt > 1, d.next_at, d.id) as turn
    from due d
    join webhooks w on w.lane = $1 and w.id = d.webhook_id and w.active
    where not $6::boolean or (d.attempt = 1 and w.consecutive_failures = 0 and w.proven)
  ),
  in_flight as materialized (
    select d.webhook_id, count(*) as number
    from deliveries d
    -- The time is written so that no index of it fits: behind it lie all retries to come, and not only what is under way.
    where d.lane = $1 and d.state = 'sending' and d.next_at + interval '0' > (select now from moment)
      and d.webhook_id = any(array(select distinct webhook_id from ranked))
    group by d.webhook_id
  ),
  chosen as (
    select r.id
    from ranked r
    left join in_flight f on f.webhook_id = r.webhook_id
    where r.turn + coalesce(f.number, 0) <= $5
    order by r.turn, r.is_suspect, r.attempt > 1, r.next_at
    limit $2
  ),
  locked as (
    select d.id
    from deliveries d
    -- Looked at again once it is locked. Written so that no index but the primary key fits, whatever the planner knows.
    where d.lane = $1 and d.id = any(array(select id from chosen)) and (d.state || '') in ('waiting', 'sending')
      and d.next_at + interval '0' <= (select now from moment)
    for update skip locked
  ),
  claimed as (
    update deliveries d
    set state = 'sending',
      lease = d.lease + 1,
      next_at = (select now from moment) + $4 * interval '1 millisecond',
      attempt_id = case
        when d.state = 'waiting' then d.attempt_id
        -- The attempt under the old id may have reached the receiver: same time part, 16 other characters.
        else left(d.attempt_id, 14) || left(encode(sha256(convert_to(d.attempt_id || d.lease, 'UTF8')), 'hex'), 16)
      end
    where d.lane = $1 and d.id = any(array(select id from locked))
    returning d.*
  )
  select c.lane, c.id, c.lease, c.account_id as "accountId", c.webhook_id as "webhookId", c.event_id as "eventId",
    c.event_type as "eventType", c.attempt, c.attempt_id as "attemptId", w.url, w.secret,
    w.previous_secret as "previousSecret", w.previous_secret_ends_at as "previousSecretEndsAt",
    w.consecutive_failures > 0 or not w.proven as "isSuspect", e.body
  from claimed c
  cross join lateral (select w.* from webhooks w where w.lane = $1 and w.id = c.webhook_id limit 1) w
  cross join lateral (select e.body from events e where e.lane = $1 and e.id = c.event_id limit 1) e
  order by c.attempt > 1, c.id`;

/** Gives deliveries back that were claimed and not settled; the attempt is not used up. Returns how many were still ours. */
export async function handBackDeliveries(
  sql: Sql,
  { lane, claims, now = null }: { lane: number; claims: { id: string; lease: number }[]; now?: Date | null },
): Promise<number> {
  return await sql.run({
    name: 'hand-back-deliveries',
    text: `update deliveries d
      set state = 'waiting',
        next_at = coalesce($4::timestamptz, clock_timestamp()),
        -- It may have been sent under the old id.
        attempt_id = left(d.attempt_id, 14) || left(encode(sha256(convert_to(d.attempt_id || d.lease, 'UTF8')), 'hex'), 16)
      from unnest($2::text[], $3::int[]) as c (id, lease)
      where d.lane = $1 and d.id = c.id and d.lease = c.lease and d.state = 'sending'`,
    values: [lane, claims.map((claim) => claim.id), claims.map((claim) => claim.lease), now],
  });
}
