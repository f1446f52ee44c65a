import type { Sql } from '../db/database.ts';
import { BOUNDS } from '../rules/bounds.ts';

/** What a node reports about itself. */
export type NodeReport = {
  id: string;
  host: string;
  version: string;
  roles: readonly string[];
  ready: boolean;
  reasons: readonly string[];
  startedAt: Date;
};

export type NodeRow = NodeReport & {
  seenAt: Date;
  /** It reported itself within the last 30 s. */
  isAlive: boolean;
};

const KEEP_HOURS = 24;

/** Stores what a node reports, and deletes nodes that have not reported themselves for a day. */
export async function reportNode(sql: Sql, node: NodeReport, now: Date | null = null): Promise<void> {
  await sql.run({
    name: 'report_node',
    text: `
      with clock as (
        select coalesce($8::timestamptz, clock_timestamp()) as moment
      ), forgotten as (
        delete from nodes
        where seen_at < (select moment from clock) - $9 * interval '1 hour'
      )
      insert into nodes (id, host, version, roles, ready, reasons, started_at, seen_at)
      select $1, $2, $3, $4, $5, $6, $7, moment
      from clock
      on conflict (id) do update
      set host = excluded.host, version = excluded.version, roles = excluded.roles, ready = excluded.ready,
        reasons = excluded.reasons, started_at = excluded.started_at, seen_at = excluded.seen_at`,
    values: [node.id, node.host, node.version, node.roles, node.ready, node.reasons, node.startedAt, now, KEEP_HOURS],
  });
}

/**
 * Writes and commits a row: what a node has reported is seen again now. Fails where the database takes no writes.
 * Returns 0 before the first report of the node.
 */
export async function touchNode(sql: Sql, id: string): Promise<number> {
  return await sql.run({
    name: 'touch_node',
    text: 'update nodes set seen_at = clock_timestamp() where id = $1',
    values: [id],
  });
}

/** A node that stops is not listed any more. */
export async function deleteNode(sql: Sql, id: string): Promise<void> {
  await sql.run({ text: 'delete from nodes where id = $1', values: [id] });
}

/** Nodes that reported themselves within a day, by the time of their start, newest first. */
export async function listNodes(sql: Sql, now: Date | null = null): Promise<NodeRow[]> {
  return await sql.rows<NodeRow>({
    text: `
      select id, host, version, roles, ready, reasons, started_at as "startedAt", seen_at as "seenAt",
        seen_at > coalesce($1::timestamptz, clock_timestamp()) - $2 * interval '1 second' as "isAlive"
      from nodes
      order by started_at desc, id
      limit 1000`,
    values: [now, BOUNDS.nodeAliveMs / 1000],
  });
}
