import type { Sql } from '../../db/database.ts';
import type { Job } from '../job.ts';
import { notifyChanged } from '../notify.ts';
import type { Claim } from './lease-store.ts';

/**
 * Stores the pieces and the progress of a job that is processed, for its event streams. Stores nothing when the lease
 * was lost. Idempotent. The renewal of the lease may have stored more progress.
 * @param pieces            the segments of consecutive pieces, as JSON text
 * @param transcribedUnits  cost of the audio up to the end of these pieces, stored with them, so that text that was
 *                          readable is always charged. The highest value of all attempts is kept.
 */
export async function savePieces(
  sql: Sql,
  claim: Claim,
  {
    firstNumber,
    pieces,
    progress,
    transcribedUnits,
  }: { firstNumber: number; pieces: string[]; progress: number; transcribedUnits: number },
): Promise<void> {
  const inserted = await sql.run({
    name: 'save_job_pieces',
    text: `
      with held as (
        update jobs
        set progress = greatest(progress, $6), transcribed_units = greatest(transcribed_units, $7)
        where shard = $1 and id = $2 and lease = $3 and state = 'processing'
        returning shard, id, lease
      )
      insert into job_pieces (shard, job_id, lease, number, segments)
      select held.shard, held.id, held.lease, $4 + piece.position - 1, piece.segments
      from held
      cross join unnest($5::text[]) with ordinality as piece (segments, position)
      on conflict do nothing`,
    values: [claim.shard, claim.id, claim.lease, firstNumber, pieces, progress, transcribedUnits],
  });
  if (inserted > 0) notifyChanged(sql, claim.id);
}

/**
 * The lease whose pieces belong to the transcript of a job: those of an earlier attempt do not. The pieces of a live
 * session are final, so that all of them are stored under the same number.
 */
export function leaseOfPieces({ isLive, lease }: Pick<Job, 'isLive' | 'lease'>): number {
  return isLive ? 0 : lease;
}

/** The segments of pieces from a number on, in order, as JSON texts. */
export async function findPieces(
  sql: Sql,
  job: Pick<Job, 'shard' | 'id' | 'isLive' | 'lease'>,
  { firstNumber, limit }: { firstNumber: number; limit: number },
): Promise<{ number: number; segments: string }[]> {
  return await sql.rows({
    name: 'find_job_pieces',
    text: `
      select number, segments
      from job_pieces
      where shard = $1 and job_id = $2 and lease = $3 and number >= $4
      order by number
      limit $5`,
    values: [job.shard, job.id, leaseOfPieces(job), firstNumber, limit],
  });
}

// No attempt has this number.
const LEASE_OF_KEPT = -1;
const PIECES_PER_WRITE = 100;

/**
 * Keeps what came of the pieces of a job that is returned to the queue, for its next execution. Keeps nothing when the
 * lease was lost. They are deleted with the job's other pieces.
 * @param pieces  JSON texts, the same at the same place in each execution
 */
export async function keepPieces(sql: Sql, claim: Claim, pieces: readonly string[]): Promise<void> {
  for (let first = 0; first < pieces.length; first += PIECES_PER_WRITE) {
    await sql.run({
      name: 'keep_job_pieces',
      text: `
        insert into job_pieces (shard, job_id, lease, number, segments)
        select shard, id, ${LEASE_OF_KEPT}, $4 + piece.position - 1, piece.result
        from jobs
        cross join unnest($5::text[]) with ordinality as piece (result, position)
        where shard = $1 and id = $2 and lease = $3 and state = 'processing'
        on conflict (shard, job_id, lease, number) do update
        set segments = excluded.segments`,
      values: [claim.shard, claim.id, claim.lease, first, pieces.slice(first, first + PIECES_PER_WRITE)],
    });
  }
}

/** What `keepPieces` kept of a job, in order. */
export async function findKeptPieces(sql: Sql, { shard, id }: Pick<Job, 'shard' | 'id'>): Promise<string[]> {
  const rows = await sql.rows<{ result: string }>({
    name: 'find_kept_pieces',
    text: `
      select segments as result
      from job_pieces
      where shard = $1 and job_id = $2 and lease = ${LEASE_OF_KEPT}
      order by number`,
    values: [shard, id],
  });
  return rows.map(({ result }) => result);
}
