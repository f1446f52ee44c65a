import type { Database, Sql } from '../../db/database.ts';
import { SHARD_COUNT } from '../../rules/shard.ts';

/** A leased delivery, with everything that its attempt needs. */
export type ClaimedDelivery = {
  shard: number;
  id: string;
  accountId: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  attempt: number;
  /** Sent with the request. Later statements about this claim have it in their conditions. */
  attemptId: string;
  url: string;
  secret: Buffer;
  previousSecret: Buffer | null;
  previousSecretEndsAt: Date | null;
  /** The webhook has been failing, or its url has never succeeded. */
  isDegraded: boolean;
  body: Buffer;
};

export type ClaimRequest = {
  shard: number;
  limit: number;
  leaseMs: number;
  /** The claiming process, `<node>/<process>`, by which its leases are released when it has ended. */
  holder?: string | null;
  /** Claims only first attempts of webhooks that have succeeded, and not failed since. */
  healthyOnly?: boolean;
  now?: Date | null;
  /** Called instead of claiming when another claim holds the lock of the shard; without it the claim waits for the lock. */
  onLocked?: () => void;
};

/** Largest number of attempts of one webhook in progress at once, on all nodes together. */
const MAX_IN_FLIGHT_PER_WEBHOOK = 16;

/** A shard, and the time until a delivery in it is due; 0 when one is due now. */
export type ShardDue = { shard: number; inMs: number };

/** Shards in which a delivery is due, or will be within `aheadMs`. One index scan per shard; leased deliveries are skipped. */
export async function shardsWithDueDeliveries(
  sql: Sql,
  { aheadMs = 0, now = null }: { aheadMs?: number; now?: Date | null } = {},
): Promise<ShardDue[]> {
  return await sql.rows<ShardDue>({
    name: 'shards-with-due-deliveries',
    text: `with moment as materialized (
        select coalesce($2::timestamptz, clock_timestamp()) as now
      ),
      sending as materialized (
        select delivery_id
        from delivery_leases
        where shard < $1 and ends_at > (select now from moment)
      )
      select l.shard, greatest(0, extract(epoch from d.next_at - m.now) * 1000)::float8 as "inMs"
      from moment m
      cross join generate_series(0, $1::int - 1) as l (shard)
      cross join lateral (
        select d.next_at
        from deliveries d
        where d.shard = l.shard and d.state = 'waiting' and d.id not in (select delivery_id from sending)
        order by d.next_at
        limit 1
      ) d
      where d.next_at <= m.now + $3 * interval '1 millisecond'`,
    values: [SHARD_COUNT, now, aheadMs],
  });
}

/**
 * Leases due deliveries of active webhooks, at most 16 in flight per webhook. In this order: the first delivery of each
 * webhook before the second of any, healthy webhooks before degraded ones, first attempts before retries. In a shard with
 * many webhooks, only the deliveries that have been due longest are considered.
 * A delivery whose lease has ended is claimed again under a new attempt id, with the same attempt number.
 */
export async function claimDueDeliveries(db: Database, request: ClaimRequest): Promise<ClaimedDelivery[]> {
  return await db.transaction(async (tx) => {
    if (!request.onLocked) await lockClaims(tx, request.shard);
    else if (!(await tryToLockClaims(tx, request.shard))) {
      request.onLocked();
      return [];
    }
    return await claim(tx, request);
  });
}

/**
 * Until the transaction ends, no other transaction leases a delivery of the shard. Claims of a shard therefore run one
 * after another and see each other's leases, and a transaction that drops deliveries sees which are being sent.
 */
export async function lockClaims(tx: Sql, shard: number): Promise<void> {
  await tx.rows({ name: 'lock-claims', text: `select pg_advisory_xact_lock(1, $1)`, values: [shard] });
}

async function tryToLockClaims(tx: Sql, shard: number): Promise<boolean> {
  const [row] = await tx.rows<{ isLocked: boolean }>({
    name: 'try-to-lock-claims',
    text: `select pg_try_advisory_xact_lock(1, $1) as "isLocked"`,
    values: [shard],
  });
  return row!.isLocked;
}

async function claim(tx: Sql, { shard, limit, leaseMs, healthyOnly = false, now = null, holder = null }: ClaimRequest) {
  return await tx.rows<ClaimedDelivery>({
    name: 'claim-due-deliveries',
    text: CLAIM,
    values: [shard, limit, now, leaseMs, MAX_IN_FLIGHT_PER_WEBHOOK, healthyOnly, holder],
  });
}

/**
 * SQL of the id that replaces an attempt id: the same time part, 16 other characters. The attempt under the old id may have
 * reached the receiver.
 */
export const NEXT_ID = (id: string) => `left(${id}, 14) || left(encode(sha256(convert_to(${id}, 'UTF8')), 'hex'), 16)`;

// Up to this many webhooks, one index scan for each is cheaper than reading what is due.
const FEW_WEBHOOKS = 32;

// Writes leases only. Deliveries without a lease change only under the claim lock, so their rows need no lock. A late result
// may settle a lease that has ended at the same time: the first of the two to change the lease succeeds.
const CLAIM = `
  with recursive
  moment as materialized (
    select coalesce($3::timestamptz, clock_timestamp()) as now
  ),
  leases as materialized (
    select l.delivery_id, l.webhook_id, l.ends_at > (select now from moment) as is_held
    from delivery_leases l
    where l.shard = $1
  ),
  -- How many attempts each webhook has in flight, as a map for constant-time lookup.
  in_flight as materialized (
    select coalesce(jsonb_object_agg(webhook_id, number), '{}') as numbers
    from (select webhook_id, count(*) as number from leases where is_held group by webhook_id) f
  ),
  -- Webhooks with waiting deliveries, up to a limit. When the shard has few, each is read by itself.
  few_webhooks (id, position) as (
    select (
      select d.webhook_id
      from deliveries d
      where d.shard = $1 and d.state = 'waiting'
      order by d.webhook_id, d.next_at
      limit 1
    ), 1
    union all
    select (
      select d.webhook_id
      from deliveries d
      -- A range of (webhook_id, next_at), here and below: only one index has this order, so a planner without statistics
      -- cannot choose to read the whole shard for each webhook.
      where d.shard = $1 and d.state = 'waiting' and (d.webhook_id, d.next_at) > (f.id, timestamptz 'infinity')
      order by d.webhook_id, d.next_at
      limit 1
    ), f.position + 1
    from few_webhooks f
    where f.id is not null and f.position <= ${FEW_WEBHOOKS}
  ),
  few as materialized (
    select count(id) <= ${FEW_WEBHOOKS} as is_so
    from few_webhooks
  ),
  -- When the shard has many, the deliveries that have been due longest are read.
  early as materialized (
    select d.event_id, d.id, d.webhook_id, d.attempt, d.attempt_id, d.next_at
    from deliveries d
    where d.shard = $1 and d.state = 'waiting' and d.next_at <= (select now from moment)
      and d.id not in (select delivery_id from leases where is_held)
    order by d.next_at
    limit (select case when is_so then 0 else 2 * $2 end from few)
  ),
  usable as materialized (
    select w.id
    from webhooks w
    where w.shard = $1 and w.id = any(array(select distinct webhook_id from early)) and w.active
      and (not $6::boolean or (w.consecutive_failures = 0 and w.has_succeeded))
  ),
  -- A few webhooks may own most of the oldest rows and hide the others: then each webhook is read by itself after all.
  hidden as materialized (
    select coalesce(sum(number), 0) >= 2 * $2 and coalesce(sum(least(usable, places)), 0) < $2 as is_so
    from (
      select e.webhook_id, count(*) as number,
        count(*) filter (where e.webhook_id in (select id from usable) and (not $6 or e.attempt = 1)) as usable,
        $5 - coalesce(((select numbers from in_flight) ->> e.webhook_id)::int, 0) as places
      from early e
      group by e.webhook_id
    ) e
  ),
  all_webhooks (id) as (
    select (
      select d.webhook_id
      from deliveries d
      where d.shard = $1 and d.state = 'waiting' and (select is_so from hidden)
      order by d.webhook_id, d.next_at
      limit 1
    )
    union all
    select (
      select d.webhook_id
      from deliveries d
      where d.shard = $1 and d.state = 'waiting' and (d.webhook_id, d.next_at) > (o.id, timestamptz 'infinity')
      order by d.webhook_id, d.next_at
      limit 1
    )
    from all_webhooks o
    where o.id is not null
  ),
  -- How many rows to read of each webhook: together enough for a claim, and not many more.
  with_places as materialized (
    select o.id, least(p.places, greatest(2, 2 * $2 / count(*) over ())) as share
    from (
      select id from few_webhooks where id is not null and (select is_so from few)
      union all
      select id from all_webhooks where id is not null
    ) o
    cross join lateral (select $5 - coalesce(((select numbers from in_flight) ->> o.id)::int, 0) as places) p
    where p.places > 0
  ),
  due as materialized (
    select e.*
    from early e
    where not (select is_so from hidden)
    union all
    select d.*
    from with_places o
    cross join lateral (
      select d.event_id, d.id, d.webhook_id, d.attempt, d.attempt_id, d.next_at
      from deliveries d
      where d.shard = $1 and d.state = 'waiting'
        and (d.webhook_id, d.next_at) >= (o.id, timestamptz '-infinity')
        and (d.webhook_id, d.next_at) <= (o.id, (select now from moment))
        and d.id not in (select delivery_id from leases where is_held)
      order by d.webhook_id, d.next_at
      limit o.share
    ) d
  ),
  ranked as materialized (
    select d.*, w.account_id, w.url, w.secret, w.previous_secret, w.previous_secret_ends_at,
      w.consecutive_failures > 0 or not w.has_succeeded as is_degraded,
      row_number() over (partition by d.webhook_id order by d.attempt > 1, d.next_at, d.id) as turn
    from due d
    cross join lateral (select w.* from webhooks w where w.shard = $1 and w.id = d.webhook_id limit 1) w
    where w.active and (not $6::boolean or (d.attempt = 1 and w.consecutive_failures = 0 and w.has_succeeded))
  ),
  chosen as materialized (
    select r.*, r.id in (select delivery_id from leases where not is_held) as was_leased
    from ranked r
    where r.turn + coalesce(((select numbers from in_flight) ->> r.webhook_id)::int, 0) <= $5
    order by r.turn, r.is_degraded, r.attempt > 1, r.next_at
    limit $2
  ),
  fresh as (
    insert into delivery_leases (shard, webhook_id, delivery_id, attempt_id, holder, ends_at)
    select $1, c.webhook_id, c.id, c.attempt_id, $7, (select now from moment) + $4 * interval '1 millisecond'
    from chosen c
    where not c.was_leased
  ),
  renewed as (
    update delivery_leases l
    set attempt_id = ${NEXT_ID('l.attempt_id')}, holder = $7,
      ends_at = (select now from moment) + $4 * interval '1 millisecond'
    where l.shard = $1 and l.delivery_id = any(array(select id from chosen)) and l.ends_at <= (select now from moment)
      and exists (select from leases where not is_held)
    returning l.delivery_id, l.attempt_id
  ),
  renamed as (
    update deliveries d
    set attempt_id = r.attempt_id
    from renewed r
    join chosen c on c.id = r.delivery_id
    where d.shard = $1 and d.event_id = c.event_id and d.id = c.id and exists (select from renewed)
  )
  select c.id, coalesce(r.attempt_id, c.attempt_id) as "attemptId", c.webhook_id as "webhookId", c.event_id as "eventId", c.attempt, c.url,
    c.secret, c.previous_secret as "previousSecret", c.previous_secret_ends_at as "previousSecretEndsAt",
    c.is_degraded as "isDegraded", $1::int as shard, c.account_id as "accountId", e.type as "eventType", e.body
  from chosen c
  left join renewed r on r.delivery_id = c.id
  cross join lateral (select e.type, e.body from events e where e.shard = $1 and e.id = c.event_id limit 1) e
  where not c.was_leased or r.attempt_id is not null
  order by c.attempt > 1, c.id`;
