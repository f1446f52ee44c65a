import type { Database, Sql } from '../../db/database.ts';
import { SHARD_COUNT } from '../../rules/shard.ts';

/** A due delivery, leased to whoever claimed it, with everything that its attempt needs. */
export type ClaimedDelivery = {
  shard: number;
  id: string;
  accountId: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  attempt: number;
  /** Goes with the request, and fences every later statement about this claim. */
  attemptId: string;
  url: string;
  secret: Buffer;
  previousSecret: Buffer | null;
  previousSecretEndsAt: Date | null;
  /** The webhook has been failing, or has never succeeded. */
  isDegraded: boolean;
  body: Buffer;
};

export type ClaimRequest = {
  shard: number;
  limit: number;
  leaseMs: number;
  /** The process that claims, `<node>/<process>`, so that its leases can be released by name when it has ended. */
  holder?: string | null;
  /** Claims only first attempts to webhooks that have succeeded, and not failed since. */
  healthyOnly?: boolean;
  now?: Date | null;
  /** Called, with nothing claimed, when somebody else is claiming from the shard just now; by default, the claim waits for that. */
  onTaken?: () => void;
};

/** How many attempts of one webhook may be under way at once, over all nodes. */
const MAX_IN_FLIGHT_PER_WEBHOOK = 16;

/** A shard, and how long until something in it is due; 0 when it is due already. */
export type ShardDue = { shard: number; inMs: number };

/** Shards in which something is due, or will be within `aheadMs`. One index probe per shard, past what is being sent. */
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
 * Leases due deliveries of active webhooks: at most 16 in flight per webhook, every webhook's first in turn before
 * anybody's second, webhooks that work before those that fail or never succeeded, first attempts before late retries; in
 * a shard with many webhooks, of what has been due for longest. The attempt number stays: a delivery whose lease ended is
 * claimed again with a new attempt id only.
 */
export async function claimDueDeliveries(db: Database, request: ClaimRequest): Promise<ClaimedDelivery[]> {
  return await db.transaction(async (tx) => {
    if (!request.onTaken) await lockClaims(tx, request.shard);
    else if (!(await tryToLockClaims(tx, request.shard))) {
      request.onTaken();
      return [];
    }
    return await claim(tx, request);
  });
}

/**
 * Until the transaction ends nobody else leases a delivery of the shard: claims come one after another, so that each sees
 * what the one before has put in flight, and whoever drops deliveries knows which are being sent.
 */
export async function lockClaims(tx: Sql, shard: number): Promise<void> {
  await tx.rows({ name: 'lock-claims', text: `select pg_advisory_xact_lock(1, $1)`, values: [shard] });
}

async function tryToLockClaims(tx: Sql, shard: number): Promise<boolean> {
  const [row] = await tx.rows<{ isOurs: boolean }>({
    name: 'try-to-lock-claims',
    text: `select pg_try_advisory_xact_lock(1, $1) as "isOurs"`,
    values: [shard],
  });
  return row!.isOurs;
}

async function claim(tx: Sql, { shard, limit, leaseMs, healthyOnly = false, now = null, holder = null }: ClaimRequest) {
  return await tx.rows<ClaimedDelivery>({
    name: 'claim-due-deliveries',
    text: CLAIM,
    values: [shard, limit, now, leaseMs, MAX_IN_FLIGHT_PER_WEBHOOK, healthyOnly, holder],
  });
}

// The attempt under the old id may have reached the receiver: same time part, 16 other characters.
const NEXT_ID = (id: string) => `left(${id}, 14) || left(encode(sha256(convert_to(${id}, 'UTF8')), 'hex'), 16)`;

// An index probe for each is cheaper than looking through what is due.
const FEW_WEBHOOKS = 32;

// Nothing but leases is written. Deliveries without one are changed by nobody but who holds the lock on claims, so none is
// locked; a lease that ended may be settled by a late result in this very moment, and whoever changes it first has it.
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
  -- How many attempts each webhook has in flight: a map, so that looking one up costs the same however many there are.
  in_flight as materialized (
    select coalesce(jsonb_object_agg(webhook_id, number), '{}') as numbers
    from (select webhook_id, count(*) as number from leases where is_held group by webhook_id) f
  ),
  -- Where the shard has few webhooks with something to come, each is asked in turn.
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
      -- As a range of (webhook_id, next_at), here and below: no other index offers this order, so that a planner without
      -- statistics cannot read the whole shard for each webhook.
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
  -- Where it has many, what has been due for longest is looked at.
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
  -- Unless a few webhooks stand there before all others and hide them: then each is asked after all.
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
  -- So many of each are looked at that there are enough for a claim, and not many more.
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

/** A claim as its holder names it. */
export type Claim = Pick<ClaimedDelivery, 'id' | 'webhookId' | 'eventId' | 'attemptId'>;

/**
 * Gives deliveries back that were claimed and not settled; the attempt is not used up. Returns how many were still ours.
 * @param delayMs  they are due again so much later; without it, at once
 */
export async function handBackDeliveries(
  sql: Sql,
  {
    shard,
    claims,
    delayMs = null,
    now = null,
  }: { shard: number; claims: Claim[]; delayMs?: number | null; now?: Date | null },
): Promise<number> {
  return await sql.run({
    name: 'hand-back-deliveries',
    text: `with claims as materialized (
        select *
        from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as c (webhook_id, event_id, id, attempt_id)
      ),
      ended as (
        delete from delivery_leases l
        using claims c
        where l.shard = $1 and l.webhook_id = c.webhook_id and l.delivery_id = c.id and l.attempt_id = c.attempt_id
        returning c.*
      )
      update deliveries d
      -- It may have been sent under the old id.
      set attempt_id = ${NEXT_ID('d.attempt_id')},
        next_at = coalesce(coalesce($7::timestamptz, clock_timestamp()) + $6::float8 * interval '1 millisecond', d.next_at)
      from ended c
      where d.shard = $1 and d.event_id = c.event_id and d.id = c.id`,
    values: [
      shard,
      claims.map((claim) => claim.webhookId),
      claims.map((claim) => claim.eventId),
      claims.map((claim) => claim.id),
      claims.map((claim) => claim.attemptId),
      delayMs,
      now,
    ],
  });
}
