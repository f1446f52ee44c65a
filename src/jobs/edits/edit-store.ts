import type { Sql } from '../../db/database.ts';
import type { TranscriptEdits } from '../../rules/jobs/transcript-edits.ts';
import type { SpeakerMerges } from '../../rules/speakers/speaker-merges.ts';
import type { SpeakerNames } from '../../rules/speakers/speaker-names.ts';
import type { Job } from '../job.ts';
import { JOB_COLUMNS } from '../store.ts';

type JobKey = { shard: number; id: string };

/** The edits of a job's transcript; all are null where it was never edited, or all edits were taken back. */
export type StoredEdits = {
  edits: TranscriptEdits | null;
  speakerNames: SpeakerNames | null;
  speakerMerges: SpeakerMerges | null;
  editedAt: Date | null;
};

const COLUMNS = 'edits, speaker_names as "speakerNames", speaker_merges as "speakerMerges", edited_at as "editedAt"';

export async function findEdits(sql: Sql, { shard, id }: JobKey): Promise<StoredEdits> {
  const [row] = await sql.rows<StoredEdits>({
    name: 'find_transcript_edits',
    isBrief: true,
    text: `select ${COLUMNS} from jobs where shard = $1 and id = $2`,
    values: [shard, id],
  });
  return row ?? { edits: null, speakerNames: null, speakerMerges: null, editedAt: null };
}

/** A job with its edits; null when the account has no such job. */
export async function findForEdit(
  sql: Sql,
  { shard, accountId, id }: JobKey & { accountId: string },
): Promise<(Job & StoredEdits) | null> {
  const [row] = await sql.rows<Job & StoredEdits>({
    name: 'find_job_for_edit',
    text: `
      select ${JOB_COLUMNS}, ${COLUMNS}
      from jobs
      where shard = $1 and id = $2 and account_id = $3`,
    values: [shard, id, accountId],
  });
  return row ?? null;
}

/** What a transcript's edits become. */
export type NewEdits = { edits: TranscriptEdits; speakerNames: SpeakerNames; speakerMerges: SpeakerMerges };

/** Replaces the edits of a completed job. Null when the job is gone, or it has other edits than `before`. */
export async function saveEdits(
  sql: Sql,
  { shard, id }: JobKey,
  { before, ...edits }: NewEdits & { before: StoredEdits },
): Promise<StoredEdits | null> {
  const [row] = await sql.rows<StoredEdits>({
    name: 'save_transcript_edits',
    text: `
      with clock as (
        select clock_timestamp() as moment
      )
      update jobs
      set edits = $3, speaker_names = $4, speaker_merges = $5,
        edited_at = case when coalesce($3::jsonb, $4::jsonb, $5::jsonb) is not null then (select moment from clock) end
      where shard = $1 and id = $2 and state = 'completed'
        and edits is not distinct from $6::jsonb and speaker_names is not distinct from $7::jsonb
        and speaker_merges is not distinct from $8::jsonb
      returning ${COLUMNS}`,
    values: [shard, id, ...valuesOf(edits), ...valuesOf(before)],
  });
  return row ?? null;
}

function valuesOf({ edits, speakerNames, speakerMerges }: NewEdits | StoredEdits): (string | null)[] {
  return [edits, speakerNames, speakerMerges].map(jsonOrNull);
}

function jsonOrNull(entries: Record<string, string> | null): string | null {
  return entries !== null && Object.keys(entries).length > 0 ? JSON.stringify(entries) : null;
}
