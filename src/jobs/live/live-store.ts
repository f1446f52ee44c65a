import type { Sql } from '../../db/database.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import type { FoundWarning } from '../../rules/jobs/warnings.ts';
import { durationMs, type LiveFormat } from '../../rules/live/encoding.ts';
import type { SegmentOptions, SegmentPosition } from '../../rules/live/live-segments.ts';
import { type ClaimedJob, NO_RESULT } from '../job.ts';
import type { Holder } from '../queue/lease-store.ts';
import { moveSql } from '../queue/moves.ts';
import { type JobKey, OPEN_JOB_COLUMNS } from '../store.ts';
import type { LiveSegment } from './live-segment.ts';

/** What a client asked of a live session, beside what is asked of any job. */
export type LiveOptions = LiveFormat &
  SegmentOptions & { partials: boolean; resumeSeconds: number; idleSeconds: number };

/** A row of `live_sessions`: how far a session is durable, and the position at which another process continues. */
export type LiveRow = JobKey &
  SegmentPosition & {
    accountId: string;
    options: LiveOptions;
    /** Raised by whoever takes the session over: writes under a lower one are refused. */
    lease: number;
    /** Bytes of audio, gaps included. */
    durableBytes: number;
    gapBytes: number;
    /** How often a client has connected. */
    connections: number;
    isConnected: boolean;
    /** Final segments. */
    segments: number;
    warnings: FoundWarning[];
  };

const COLUMNS = `shard, job_id as id, account_id as "accountId", options, lease, durable_bytes as "durableBytes",
        gap_bytes as "gapBytes", frame, is_speaking as "isSpeaking", connections, is_connected as "isConnected", segments,
        warnings`;

/** The row of a session; null for a job that is not live, or whose rows were erased after its end. */
export async function findLiveSession(sql: Sql, { shard, id }: JobKey): Promise<LiveRow | null> {
  const rows = await sql.rows<LiveRow>({
    name: 'find_live_session',
    isBrief: true,
    text: `
      select ${COLUMNS}
      from live_sessions
      where shard = $1 and job_id = $2`,
    values: [shard, id],
  });
  return rows[0] ?? null;
}

/** The audio that is charged: what was received, without gaps. */
export function chargedMsOf({
  options,
  durableBytes,
  gapBytes,
}: Pick<LiveRow, 'options' | 'durableBytes' | 'gapBytes'>): number {
  return durationMs(options, durableBytes - gapBytes);
}

/** The hash of the session's token; null when the account has no such session, or it has ended. */
export async function findLiveAccess(
  sql: Sql,
  { shard, id, accountId }: JobKey & { accountId: string },
): Promise<{ tokenHash: Buffer | null } | null> {
  const rows = await sql.rows<{ tokenHash: Buffer | null }>({
    name: 'find_live_access',
    isBrief: true,
    text: `
      select token_hash as "tokenHash"
      from live_sessions
      where shard = $1 and job_id = $2 and account_id = $3`,
    values: [shard, id, accountId],
  });
  return rows[0] ?? null;
}

const CONNECT = moveSql('start', 'take_over');

/** Claims the job of a session for a client that connects. Null when it has ended, or belongs to another account. */
export async function takeLiveJob(
  tx: Sql,
  { shard, id, accountId }: JobKey & { accountId: string },
  { holder, leaseMs }: { holder: Holder; leaseMs: number },
): Promise<ClaimedJob | null> {
  const rows = await tx.rows<Omit<ClaimedJob, keyof typeof NO_RESULT>>({
    name: 'take_live_job',
    text: `
      with clock as (
        select clock_timestamp() as moment
      )
      update jobs
      set ${CONNECT.to}, lease = lease + 1, attempts = 1, holder = $4,
        started_at = coalesce(started_at, (select moment from clock)),
        next_at = (select moment from clock) + $5 * interval '1 millisecond'
      where shard = $1 and id = $2 and account_id = $3 and is_live and ${CONNECT.from}
      returning ${OPEN_JOB_COLUMNS}`,
    values: [shard, id, accountId, holder, leaseMs],
  });
  return rows[0] ? { ...NO_RESULT, ...rows[0] } : null;
}

/**
 * Takes a session over under the lease that its job has got in this transaction. It waits for a write of the former
 * holder, and refuses the next one. Null when there is no such session.
 * @param isConnected  whether a client is connected to the new holder
 */
export async function takeLiveSession(
  tx: Sql,
  { shard, id, lease }: JobKey & { lease: number },
  isConnected: boolean,
): Promise<LiveRow | null> {
  const rows = await tx.rows<LiveRow>({
    name: 'take_live_session',
    text: `
      update live_sessions
      set lease = $3, is_connected = $4::boolean, connections = connections + $4::boolean::int
      where shard = $1 and job_id = $2 and lease < $3
      returning ${COLUMNS}`,
    values: [shard, id, lease, isConnected],
  });
  return rows[0] ?? null;
}

/**
 * The live sessions of an account whose jobs have not ended.
 * Lock the account's row before, where the number is limited.
 */
export async function countLiveSessions(
  tx: Sql,
  { shard, accountId }: { shard: number; accountId: string },
): Promise<number> {
  const [row] = await tx.rows<{ sessions: number }>({
    name: 'count_live_sessions',
    text: `
      select count(*) as sessions
      from live_sessions
      join jobs on jobs.shard = $1 and jobs.id = live_sessions.job_id
      where live_sessions.shard = $1 and live_sessions.account_id = $2 and jobs.next_at is not null`,
    values: [shard, accountId],
  });
  return row!.sessions;
}

/** A session to cancel or, where `isEnded`, of which only the rows are left. */
export type IdleSession = JobKey & { accountId: string; isEnded: boolean };

/** Sessions of jobs that have ended or were erased, and of jobs that no client has connected to in time. */
export async function findIdleSessions(
  sql: Sql,
  { after, limit }: { after: JobKey | null; limit: number },
): Promise<IdleSession[]> {
  return await sql.rows({
    name: 'find_idle_live_sessions',
    text: `
      -- every shard: the janitor works for all
      select session.shard, session.job_id as id, session.account_id as "accountId", jobs.next_at is null as "isEnded"
      from live_sessions as session
      left join jobs on jobs.shard = session.shard and jobs.id = session.job_id
      where (session.shard, session.job_id) > ($1::smallint, $2)
        and (
          jobs.next_at is null
          or (jobs.state = 'queued' and session.connections = 0 and jobs.next_at <= clock_timestamp())
        )
      order by session.shard, session.job_id
      limit $3`,
    values: [after?.shard ?? -1, after?.id ?? '', limit],
  });
}

/**
 * Leaves a session to whoever takes it over within its `resumeSeconds`; after that it counts as lapsed, and a
 * transcriber ends it. Nothing changes when the lease was lost.
 */
export async function leaveSession(
  tx: Sql,
  { shard, id, lease, options }: Pick<LiveRow, 'shard' | 'id' | 'lease' | 'options'>,
): Promise<void> {
  await tx.run({
    name: 'leave_live_job',
    text: `
      with clock as (
        select clock_timestamp() as moment
      )
      update jobs
      set holder = null, next_at = (select moment from clock) + $4 * interval '1 second'
      where shard = $1 and id = $2 and lease = $3 and state = 'processing'`,
    values: [shard, id, lease, options.resumeSeconds],
  });
  await tx.run({
    name: 'leave_live_session',
    text: `
      update live_sessions
      set is_connected = false
      where shard = $1 and job_id = $2 and lease = $3`,
    values: [shard, id, lease],
  });
}

/** Stores the audio of a session that ends. False when the job is no longer held under this lease. */
export async function setLiveAudio(
  sql: Sql,
  { shard, id, lease }: JobKey & { lease: number },
  { audioKey, sizeBytes, format }: { audioKey: string; sizeBytes: number; format: string },
): Promise<boolean> {
  const changed = await sql.run({
    name: 'set_live_audio',
    text: `
      update jobs
      set audio_key = $4, size_bytes = $5, format = $6
      where shard = $1 and id = $2 and lease = $3 and state = 'processing'`,
    values: [shard, id, lease, audioKey, sizeBytes, format],
  });
  return changed === 1;
}

/** Stores what the text of a job costs that does not complete. Nothing changes when the lease was lost. */
export async function setTranscribed(
  sql: Sql,
  { shard, id, lease }: JobKey & { lease: number },
  units: number,
): Promise<void> {
  await sql.run({
    name: 'set_live_transcribed',
    text: `
      update jobs
      set transcribed_units = least($4, held_units)
      where shard = $1 and id = $2 and lease = $3 and state = 'processing'`,
    values: [shard, id, lease, units],
  });
}

/** What a session has gained since the last write. */
export type LiveWrite = Pick<
  LiveRow,
  'id' | 'lease' | 'durableBytes' | 'gapBytes' | 'frame' | 'isSpeaking' | 'segments' | 'warnings'
>;
/** Audio that is not committed: consecutive bytes, or for an empty buffer a gap of `length` bytes. */
export type AudioChunk = { startByte: number; length: number; bytes: Buffer };
export type LiveChunk = AudioChunk & { id: string };
/** A final segment: as the event streams of the job show it, and a `LiveSegment` as JSON. */
export type LivePiece = { id: string; number: number; segments: string; message: string };

// Data-modifying CTEs see the same rows; the update locks the session's row and checks the lease again after a wait.
const WRITE = defineStatement(
  { name: 'write_live' },
  `
      with written as (
        update live_sessions as session
        set durable_bytes = given.durable_bytes, gap_bytes = given.gap_bytes, frame = given.frame,
          is_speaking = given.is_speaking, segments = given.segments, warnings = given.warnings::jsonb
        from unnest($ids::text[], $leases::int[], $durableBytes::bigint[], $gapBytes::bigint[], $frames::bigint[],
          $areSpeaking::boolean[], $counts::int[], $warnings::text[])
          as given (id, lease, durable_bytes, gap_bytes, frame, is_speaking, segments, warnings)
        where session.shard = $shard and session.job_id = given.id and session.lease = given.lease
        returning session.job_id
      ), chunk as (
        insert into live_chunks (shard, job_id, start_byte, length, bytes)
        select $shard, id, start_byte, length, substring($audio::bytea from position for size)
        from unnest($chunkIds::text[], $startBytes::bigint[], $lengths::bigint[], $positions::int[], $sizes::int[])
          as given (id, start_byte, length, position, size)
        where id in (select job_id from written)
        on conflict do nothing
      ), piece as (
        insert into job_pieces (shard, job_id, lease, number, segments, message)
        select $shard, id, 0, number, segments, message
        from unnest($pieceIds::text[], $numbers::int[], $segments::text[], $messages::text[])
          as given (id, number, segments, message)
        where id in (select job_id from written)
        on conflict do nothing
      )
      select job_id as id
      from written`,
);

/**
 * Writes audio and segments of sessions of one shard. Returns the ids of those that are still held under their leases;
 * of the others nothing is written. Idempotent: what is written may be written again.
 */
export async function writeLive(
  sql: Sql,
  { shard, writes, chunks, pieces }: { shard: number; writes: LiveWrite[]; chunks: LiveChunk[]; pieces: LivePiece[] },
): Promise<Set<string>> {
  let position = 1;
  const positions = chunks.map(({ bytes }) => (position += bytes.length) - bytes.length);
  const rows = await sql.rows<{ id: string }>(
    WRITE({
      shard,
      ids: writes.map(({ id }) => id),
      leases: writes.map(({ lease }) => lease),
      durableBytes: writes.map(({ durableBytes }) => durableBytes),
      gapBytes: writes.map(({ gapBytes }) => gapBytes),
      frames: writes.map(({ frame }) => frame),
      areSpeaking: writes.map(({ isSpeaking }) => isSpeaking),
      counts: writes.map(({ segments }) => segments),
      warnings: writes.map(({ warnings }) => JSON.stringify(warnings)),
      // One value for all: each value of an array of bytes would be sent as text of twice the size.
      audio: Buffer.concat(chunks.map(({ bytes }) => bytes)),
      chunkIds: chunks.map(({ id }) => id),
      startBytes: chunks.map(({ startByte }) => startByte),
      lengths: chunks.map(({ length }) => length),
      positions,
      sizes: chunks.map(({ bytes }) => bytes.length),
      pieceIds: pieces.map(({ id }) => id),
      // Pieces of jobs are numbered from 0.
      numbers: pieces.map(({ number }) => number - 1),
      segments: pieces.map(({ segments }) => segments),
      messages: pieces.map(({ message }) => message),
    }),
  );
  return new Set(rows.map(({ id }) => id));
}

/** The stored chunks from the one that contains a byte on, at most 16 of them. */
export async function readChunks(
  sql: Sql,
  { shard, id }: JobKey,
  fromByte: number,
): Promise<{ startByte: number; length: number; bytes: Buffer }[]> {
  return await sql.rows({
    name: 'read_live_chunks',
    text: `
      select start_byte as "startByte", length, bytes
      from live_chunks
      where shard = $1 and job_id = $2 and start_byte >= coalesce((
          select max(start_byte)
          from live_chunks
          where shard = $1 and job_id = $2 and start_byte <= $3
        ), 0)
      order by start_byte
      limit 16`,
    values: [shard, id, fromByte],
  });
}

/** The final segments after a number, in order, at most `limit`. */
export async function findLiveSegments(
  sql: Sql,
  { shard, id }: JobKey,
  { after, limit }: { after: number; limit: number },
): Promise<LiveSegment[]> {
  const rows = await sql.rows<{ message: string }>({
    name: 'find_live_messages',
    text: `
      select message
      from job_pieces
      where shard = $1 and job_id = $2 and lease = 0 and number >= $3
      order by number
      limit $4`,
    values: [shard, id, after, limit],
  });
  return rows.map(({ message }) => JSON.parse(message) as LiveSegment);
}

/** Deletes at most 500 chunks of a session, and its row with the last of them. True when nothing is left. */
export async function eraseLive(sql: Sql, { shard, id }: JobKey): Promise<boolean> {
  const deleted = await sql.run({
    name: 'erase_live_chunks',
    text: `
      delete from live_chunks
      where shard = $1 and job_id = $2 and start_byte in (
        select start_byte
        from live_chunks
        where shard = $1 and job_id = $2
        order by start_byte
        limit 500
      )`,
    values: [shard, id],
  });
  if (deleted === 500) return false;
  await sql.run({
    name: 'erase_live_session',
    text: 'delete from live_sessions where shard = $1 and job_id = $2',
    values: [shard, id],
  });
  return true;
}
