import type { Database, Sql } from '../../db/database.ts';

/** A shard that a deliverer owns. The epoch fences its statements: it changes whenever the shard changes hands. */
export type OwnedShard = { shard: number; epoch: number };

/** What a deliverer learns from a heartbeat. */
export type Heartbeat = {
  /** The database's time, in ms since the epoch. */
  nowMs: number;
  /** Ids of the deliverers that share the shards, in order. */
  sharing: string[];
  /** The lease of another deliverer has ended. */
  hasExpired: boolean;
  owned: OwnedShard[];
  /** How many shards can be taken. */
  free: number;
};

/** Makes all deliverers look at once which shards they should own. */
function notifyShardsChanged(sql: Sql): void {
  sql.notify('delivery_shards', '');
}

/** Inserts a deliverer without shards; does nothing new when it is there already. */
export async function joinDeliverers(sql: Sql, { id, leaseMs }: { id: string; leaseMs: number }): Promise<void> {
  await sql.run({
    text: `insert into deliverers (id, ends_at)
      values ($1, clock_timestamp() + $2 * interval '1 millisecond')
      on conflict (id) do update set ends_at = excluded.ends_at`,
    values: [id, leaseMs],
  });
  notifyShardsChanged(sql);
}

/** Renews the lease of a deliverer. Null: its row was deleted, so that all its shards are lost. */
export async function renewLease(
  sql: Sql,
  { id, leaseMs, isLeaving }: { id: string; leaseMs: number; isLeaving: boolean },
): Promise<Heartbeat | null> {
  const rows = await sql.rows<Omit<Heartbeat, 'owned'> & { shards: number[]; epochs: number[] }>({
    name: 'renew-deliverer-lease',
    text: `with renewed as (
        update deliverers
        set ends_at = clock_timestamp() + $2 * interval '1 millisecond', is_leaving = $3
        where id = $1
        returning id
      )
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs",
        array(
          select id
          from deliverers
          where case when id = $1 then not $3 else ends_at > clock_timestamp() and not is_leaving end
          order by id
        ) as sharing,
        exists (select from deliverers where id <> $1 and ends_at <= clock_timestamp()) as "hasExpired",
        array(select shard::int from delivery_shards where owner = $1 order by shard) as shards,
        array(select epoch::float8 from delivery_shards where owner = $1 order by shard) as epochs,
        (select count(*) from delivery_shards where owner is null) as free
      from renewed`,
    values: [id, leaseMs, isLeaving],
  });
  if (!rows[0]) return null;
  const { shards, epochs, ...heartbeat } = rows[0];
  return { ...heartbeat, owned: shards.map((shard, at) => ({ shard, epoch: epochs[at]! })) };
}

/** Takes up to `limit` free shards; none when the deliverer's row was deleted. */
export async function takeShards(sql: Sql, { id, limit }: { id: string; limit: number }): Promise<OwnedShard[]> {
  return await sql.rows<OwnedShard>({
    name: 'take-delivery-shards',
    text: `with me as materialized (
        -- Keeps the row from being deleted meanwhile: a shard of an owner without a row would never be free again.
        select id
        from deliverers
        where id = $1
        for key share
      ),
      free as (
        select shard
        from delivery_shards
        where owner is null
        order by shard
        limit (select $2 * count(*) from me)
        for update skip locked
      )
      update delivery_shards s
      set owner = $1, epoch = s.epoch + 1
      from free
      where s.shard = free.shard
      returning s.shard, s.epoch`,
    values: [id, limit],
  });
}

/** Sets shards of a deliverer free. Nothing of them may be in flight. */
export async function releaseShards(sql: Sql, { id, shards }: { id: string; shards: number[] }): Promise<void> {
  await sql.run({
    text: `update delivery_shards
      set owner = null, epoch = epoch + 1
      where shard = any($2::smallint[]) and owner = $1`,
    values: [id, shards],
  });
  notifyShardsChanged(sql);
}

/**
 * Deletes deliverers that have ended, and sets their shards free. Returns the number of shards.
 * @param ids  prefix of their ids: one process, or all processes of a node
 */
export async function endDeliverers(db: Database, ids: string): Promise<number> {
  return await freeShardsOf(db, {
    text: 'delete from deliverers where starts_with(id, $1) returning id',
    values: [ids],
  });
}

/** Deletes deliverers whose lease has ended, and sets their shards free. Returns the number of shards. */
export async function endExpiredDeliverers(db: Database): Promise<number> {
  return await freeShardsOf(db, { text: 'delete from deliverers where ends_at <= clock_timestamp() returning id' });
}

/**
 * In two statements: the second one sees shards that a deleted deliverer took while the first one waited for its row.
 */
async function freeShardsOf(db: Database, deletion: { text: string; values?: unknown[] }): Promise<number> {
  return await db.transaction(async (tx) => {
    const ended = await tx.rows<{ id: string }>(deletion);
    if (ended.length === 0) return 0;
    const freed = await tx.run({
      text: 'update delivery_shards set owner = null, epoch = epoch + 1 where owner = any($1::text[])',
      values: [ended.map(({ id }) => id)],
    });
    notifyShardsChanged(tx);
    return freed;
  });
}
