import type { Sql } from '../../db/database.ts';

/** Names a session or a key; `shard` is that of its account. */
type Name = { shard: number; id: string };

export type SessionRow = { id: string; keyId: string; createdAt: Date; expiresAt: Date };

const COLUMNS = `id, key_id as "keyId", created_at as "createdAt", expires_at as "expiresAt"`;

/**
 * Begins a session. It ends after `keepMs`, or with its key.
 * @param key  one that the transaction has locked
 * @param hash  SHA-256 of the session's token, 32 bytes
 */
export async function insertSession(
  tx: Sql,
  { key, id, hash, keepMs }: { key: Name & { expiresAt: Date | null }; id: string; hash: Buffer; keepMs: number },
): Promise<SessionRow> {
  const rows = await tx.rows<SessionRow>({
    text: `
      insert into sessions (shard, id, hash, key_id, created_at, expires_at)
      values ($1, $2, $3, $4, now(), least(now() + $5 * interval '1 millisecond', $6::timestamptz))
      returning ${COLUMNS}`,
    values: [key.shard, id, hash, key.id, keepMs, key.expiresAt],
  });
  return rows[0]!;
}

/** Null when there is no such session any more. */
export async function findSession(sql: Sql, { shard, id }: Name): Promise<SessionRow | null> {
  const [row] = await sql.rows<SessionRow>({
    text: `select ${COLUMNS} from sessions where shard = $1 and id = $2`,
    values: [shard, id],
  });
  return row ?? null;
}

/** The ids of those sessions that have not ended. */
export async function findValidSessions(sql: Sql, sessions: readonly Name[]): Promise<Set<string>> {
  const rows = await sql.rows<{ id: string }>({
    name: 'find_valid_sessions',
    isBrief: true,
    text: `
      select sessions.id
      from unnest($1::smallint[], $2::text[]) as asked (shard, id)
      join sessions on sessions.shard = asked.shard and sessions.id = asked.id
      where sessions.expires_at > clock_timestamp()`,
    values: [sessions.map(({ shard }) => shard), sessions.map(({ id }) => id)],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Ends a session. */
export async function deleteSession(sql: Sql, { shard, id }: Name): Promise<void> {
  await sql.run({ text: 'delete from sessions where shard = $1 and id = $2', values: [shard, id] });
}

/** Ends the session with this token. @param hash  SHA-256 of it */
export async function deleteSessionByHash(sql: Sql, hash: Buffer): Promise<void> {
  await sql.run({ text: 'delete from sessions where hash = $1', values: [hash] });
}

/** Ends the sessions of a key but for the newest. @param keep  how many remain */
export async function deleteOlderSessions(tx: Sql, key: Name, keep: number): Promise<void> {
  await tx.run({
    text: `
      delete from sessions
      where shard = $1 and id = any(array(
        select id
        from sessions
        where shard = $1 and key_id = $2
        order by id desc
        offset $3
      ))`,
    values: [key.shard, key.id, keep],
  });
}

/** Deletes at most `limit` sessions whose time is over. Returns how many. */
export async function deleteEndedSessions(sql: Sql, limit: number): Promise<number> {
  return await sql.run({
    text: `
      delete from sessions
      where hash = any(array(
        select hash
        from sessions
        where expires_at <= clock_timestamp()
        limit $1
      ))`,
    values: [limit],
  });
}
