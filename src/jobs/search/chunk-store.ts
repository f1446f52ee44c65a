import type { Sql } from '../../db/database.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import { firstBytes, type SizedRow } from '../../db/statements/page-bytes.ts';
import type { SearchSegment, TranscriptChunk } from '../../rules/search/chunks.ts';
import type { AccountRef } from '../../rules/shard.ts';
import type { Job } from '../job.ts';

/**
 * Of the forms that `rules/search/` makes of words: raised when a word has other forms than before, so that the rows of
 * earlier releases are indexed anew.
 */
const WORDS_VERSION = 2;

/**
 * The CTE `chunks` of a statement on one shard: it inserts the chunks of a job's transcript. The parameters' values are
 * those of `chunkValues`, and `$shard`, `$accountId`, `$jobId`.
 * @param condition  SQL: nothing is inserted unless it is true
 */
export const insertChunksIf = (condition: string): string => `
      chunks as (
        insert into transcript_chunks (shard, account_id, job_id, number, job_created_at, first_segment, segments, words,
          words_version)
        select $shard::smallint, $accountId, $jobId, chunk.number, $jobCreatedAt::timestamptz, chunk.first_segment,
          chunk.segments, chunk.words::tsvector, ${WORDS_VERSION}
        from json_to_recordset($chunks::json) as chunk (number integer, first_segment integer, segments text, words text)
        where ${condition}
      )`;

/** The values of `insertChunksIf`. */
export function chunkValues(jobCreatedAt: Date, chunks: TranscriptChunk[]) {
  const rows = chunks.map(({ number, firstSegment, segments, words }) => ({
    number,
    first_segment: firstSegment,
    segments: JSON.stringify(segments),
    words,
  }));
  return { jobCreatedAt, chunks: JSON.stringify(rows) };
}

/** SQL that deletes the chunks of jobs. @param jobIds  SQL of an array of ids; the statement's `$1` is the shard */
export const deleteChunksOf = (jobIds: string): string => `
        delete from transcript_chunks
        where shard = $1 and job_id = any(${jobIds})`;

const REPLACE = defineStatement(
  { name: 'insert_chunks' },
  `
      with ${insertChunksIf('true')}
      select`,
);

/** Replaces the chunks of a job whose transcript was edited, in the transaction that has locked the job. */
export async function replaceChunks(
  tx: Sql,
  { shard, accountId, id: jobId, createdAt }: { shard: number; accountId: string; id: string; createdAt: Date },
  chunks: TranscriptChunk[],
): Promise<void> {
  await tx.run({ name: 'delete_chunks', text: deleteChunksOf('array[$2::text]'), values: [shard, jobId] });
  await tx.run(REPLACE({ shard, accountId, jobId, ...chunkValues(createdAt, chunks) }));
}

export type SearchFilter = {
  /** PostgreSQL's text form of a tsquery. */
  tsquery: string;
  createdAfter: Date | null;
  createdBefore: Date | null;
};

/** A job with a transcript that matches. `language` is that of its text. */
export type FoundJob = Pick<Job, 'id' | 'createdAt' | 'title' | 'filename' | 'language'>;

/** The jobs with a chunk that matches, newest first. @param page.beforeId  null for the first page */
export async function findMatchingJobs(
  sql: Sql,
  { shard, accountId }: AccountRef,
  { tsquery, createdAfter, createdBefore }: SearchFilter,
  page: { limit: number; beforeId: string | null },
): Promise<FoundJob[]> {
  return await sql.rows<FoundJob>({
    text: `
      with found as (
        select job_id
        from transcript_chunks
        where shard = $1 and account_id = $2 and words @@ $3::tsquery
          and ($4::text is null or job_id < $4)
          and ($5::timestamptz is null or job_created_at > $5)
          and ($6::timestamptz is null or job_created_at < $6)
        group by job_id
        order by job_id desc
        limit $7
      )
      select jobs.id, created_at as "createdAt", title, filename, coalesce(options ->> 'translate_to', detected_language, language) as language
      from found
      join jobs on jobs.shard = $1 and jobs.id = found.job_id
      order by jobs.id desc`,
    values: [shard, accountId, tsquery, page.beforeId, createdAfter, createdBefore, page.limit],
  });
}

export type FoundChunk = SizedRow & { jobId: string; firstSegment: number; segments: SearchSegment[] };

/**
 * The first chunks that match, at most `limit` of each of the jobs, newest job first, in the order of the audio. Not
 * many more than fit on a page.
 */
export async function readMatchingChunks(
  sql: Sql,
  { shard, accountId }: AccountRef,
  { tsquery, jobIds, limit }: { tsquery: string; jobIds: string[]; limit: number },
): Promise<FoundChunk[]> {
  const query = `
      with matching as (
        select job_id, number, row_number() over (partition by job_id order by number) as place
        from transcript_chunks
        where shard = $1 and account_id = $2 and job_id = any($3::text[]) and words @@ $4::tsquery
      )
      select chunk.job_id as "jobId", chunk.number, chunk.first_segment as "firstSegment", chunk.segments,
        octet_length(chunk.segments) as "rowBytes"
      from matching
      join transcript_chunks as chunk
        on chunk.shard = $1 and chunk.job_id = matching.job_id and chunk.number = matching.number
      where matching.place <= $5`;
  const rows = await sql.rows<Omit<FoundChunk, 'segments'> & { segments: string }>({
    text: firstBytes(query, '"jobId" desc, number'),
    values: [shard, accountId, jobIds, tsquery, limit],
  });
  return rows.map((row) => ({ ...row, segments: JSON.parse(row.segments) as SearchSegment[] }));
}

/** Deletes at most `limit` chunks of a shard, for a service that has switched search off. Returns how many. */
export async function deleteSomeChunks(sql: Sql, { shard, limit }: { shard: number; limit: number }): Promise<number> {
  return await sql.run({
    name: 'delete_some_chunks',
    text: `
      with batch as materialized (
        select job_id, number
        from transcript_chunks
        where shard = $1
        limit $2
      )
      delete from transcript_chunks as chunk
      using batch
      where chunk.shard = $1 and chunk.job_id = batch.job_id and chunk.number = batch.number`,
    values: [shard, limit],
  });
}

/** A chunk as an earlier release indexed it. @property tags  its words that are in no text */
export type OldChunk = { jobId: string; number: number; segments: SearchSegment[]; tags: string[] };

/** At most `limit` chunks of a shard whose words have the forms of an earlier release. */
export async function readOldChunks(sql: Sql, { shard, limit }: { shard: number; limit: number }): Promise<OldChunk[]> {
  const rows = await sql.rows<Omit<OldChunk, 'segments'> & { segments: string }>({
    name: 'read_old_chunks',
    text: `
      select job_id as "jobId", number, segments,
        array(select lexeme from unnest(words) where lexeme like '@%') as tags
      from transcript_chunks
      where shard = $1 and words_version < ${WORDS_VERSION}
      limit $2`,
    values: [shard, limit],
  });
  return rows.map((row) => ({ ...row, segments: JSON.parse(row.segments) as SearchSegment[] }));
}

/** Writes the words of old chunks. One that was replaced since it was read has new words already. */
export async function updateWords(
  sql: Sql,
  shard: number,
  chunks: { jobId: string; number: number; words: string }[],
): Promise<void> {
  await sql.run({
    name: 'update_words_of_chunks',
    text: `
      update transcript_chunks as chunk
      set words = given.words::tsvector, words_version = ${WORDS_VERSION}
      from json_to_recordset($2::json) as given (job_id text, number integer, words text)
      where chunk.shard = $1 and chunk.job_id = given.job_id and chunk.number = given.number
        and chunk.words_version < ${WORDS_VERSION}`,
    values: [shard, JSON.stringify(chunks.map(({ jobId, number, words }) => ({ job_id: jobId, number, words })))],
  });
}
